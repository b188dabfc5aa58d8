"""Numbers that ran out, tables and engines that are not there."""

from __future__ import annotations

from singletable.errors.root import SingleTableError

__all__ = [
    "ConfigurationError",
    "SequenceContention",
    "SequenceExhausted",
    "ServiceError",
    "TableMismatch",
    "TableMissing",
    "Throttled",
    "Unreachable",
]


class SequenceContention(SingleTableError):
    """Other writers took every number that was tried; nothing was written."""

    code = "ST6001"
    attempts: int
    seconds: float


class SequenceExhausted(SingleTableError, OverflowError):
    """A sequence has no number left below its `max_value`; nothing was written."""

    code = "ST6002"
    max_value: int


class TableMissing(SingleTableError, LookupError):
    """The table does not exist in this region and account, or at this endpoint."""

    code = "ST7001"
    table: str


class TableMismatch(SingleTableError):
    """An existing table has another shape than the one declared; `differences` lists them."""

    code = "ST7002"
    table: str
    differences: tuple[str, ...]


class Throttled(SingleTableError):
    """DynamoDB kept throttling until the attempts were used up; nothing was written."""

    code = "ST7003"
    attempts: int


class ConfigurationError(SingleTableError):
    """No client can be made; `missing` says for want of what: "region", "credentials", "moto", ... or None."""

    code = "ST7004"
    missing: str | None = None


class Unreachable(SingleTableError, ConnectionError):
    """Nobody answers at the endpoint; nothing was written."""

    code = "ST7005"
    endpoint: str


class ServiceError(SingleTableError):
    """DynamoDB answered with an error that no other class names; `error` is its name for it."""

    code = "ST7006"
    error: str
