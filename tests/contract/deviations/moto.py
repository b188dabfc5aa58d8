"""What moto 5.2.5 does otherwise than DynamoDB: nothing that the contract suite asks.

Its updates and transactions are not atomic under threads, which the store's own lock mends (`singletable.local`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DEVIATIONS: Final[Mapping[str, str]] = {}
