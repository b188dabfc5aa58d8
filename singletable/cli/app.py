"""The group of all commands."""

from __future__ import annotations

import click

from singletable.cli.counter import counter
from singletable.cli.demo import demo

__all__ = ["app"]

HELP = {"help_option_names": ["-h", "--help"]}


@click.group(name="singletable", context_settings=HELP)
@click.version_option(package_name="singletable", prog_name="singletable")
def app() -> None:
    """Single-table design on Amazon DynamoDB."""


app.add_command(counter)
app.add_command(demo)
