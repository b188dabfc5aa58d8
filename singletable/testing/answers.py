"""What the in-memory model answers with when it does not carry a request out."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["NotModelled", "Refused", "invalid"]


class NotModelled(NotImplementedError):
    """The in-memory model cannot do what a request asks for; it never guesses."""


class Refused(Exception):
    """DynamoDB would answer with this error: `code` is its name, `more` what else stands in the answer."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.more = more


def invalid(message: str) -> NoReturn:
    """Raise the ValidationException that DynamoDB answers an unfit request with; the wording is our own."""
    raise Refused("ValidationException", message)
