"""`singletable demo`: the demonstration on an embedded engine, or on any engine that speaks DynamoDB."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from singletable import ConfigurationError, Store
from singletable.cli.page import Page, document, progress_bar
from singletable.cli.target import address, told
from singletable.demo import SAMPLE, Scene, app, read_places, scenes

__all__ = ["demo"]

STAND_INS = {
    "region": {"AWS_DEFAULT_REGION": "us-east-1"},
    "credentials": {"AWS_ACCESS_KEY_ID": "demo", "AWS_SECRET_ACCESS_KEY": "demo"},
}
"""What is used with an endpoint where nothing else is found: engines want a region and credentials but never check."""


@click.command()
@click.option(
    "--endpoint-url",
    metavar="URL",
    callback=address,
    help="Run on this engine instead, in a new table that is deleted again.",
)
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Load the places of provinces.csv, cities.csv, areas.csv and streets.csv in DIR instead of the sample.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def demo(endpoint_url: str | None, data: Path | None, as_json: bool) -> None:
    """Show three applications on one DynamoDB table.

    A shop, games and China's places: for each access pattern the query, the key condition sent, the rows, and what
    DynamoDB reads for it. It runs in this process; neither AWS nor Docker is needed.
    """
    begun = time.perf_counter()
    with told():
        places = read_places(SAMPLE if data is None else data)
        with _store(endpoint_url) as store, progress_bar() as progress:
            page = Page(sys.stdout)
            shown: list[Scene] = []
            if not as_json:
                page.open(store.name, endpoint_url)
            for scene in scenes(store, places, progress):
                shown.append(scene)
                if not as_json:
                    page.show(len(shown), scene)
    seconds = time.perf_counter() - begun
    if as_json:
        click.echo(document(store.name, endpoint_url, shown, seconds).encode())
    else:
        page.close(seconds)


@contextmanager
def _store(endpoint_url: str | None) -> Generator[Store]:
    """Give a store on a table of its own, which is gone afterwards whatever happens."""
    if endpoint_url is None:
        yield Store.local(app)
        return
    store = _connected(endpoint_url)
    try:
        yield store
    finally:
        store.delete_table()


def _connected(endpoint_url: str) -> Store:
    """Make the table, with a stand-in for the region or the credentials only where boto3 finds none."""
    stand_ins = dict(STAND_INS)
    while True:
        store = Store(app, name=f"{app.name}-{uuid.uuid4().hex[:12]}", endpoint_url=endpoint_url)
        try:
            store.create_table()
            return store
        except ConfigurationError as error:
            stand_in = stand_ins.pop(error.missing or "", None)
            if stand_in is None:
                raise
            os.environ.update(stand_in)
