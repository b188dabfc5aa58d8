"""Tests of code that runs several writers at once: every order of their requests, on a DynamoDB in memory."""

from __future__ import annotations

from singletable.testing.answers import NotModelled, Refused
from singletable.testing.interleaving import Explored, InterleavingFailed, interleave
from singletable.testing.memory import Memory

__all__ = ["Explored", "InterleavingFailed", "Memory", "NotModelled", "Refused", "interleave"]
