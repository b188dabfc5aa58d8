"""Faults at the wire: a small HTTP proxy on the loopback, in front of an engine that is a process of its own.

    with proxied(dynoxide_url, Script(Rule(CLOSED, "put_item", nth=(1,)))) as proxy:
        store = Store(table, name=..., endpoint_url=proxy.url)

A lost reply is a connection that is closed without an answer, a lost request one that is reset; "no connection" cannot
be told to a single request at the wire and is a reset before the engine sees anything. A reply that times out is held
back for `hold` seconds before its connection is closed, so a client with a shorter `read_timeout` gives up first.
`script.calls` counts every attempt that arrives, those of a client's own retries too.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit

from tests.faults.client import play
from tests.faults.rules import Lost, Refused, Script, Send

__all__ = ["Proxy", "proxied"]

HOST = "127.0.0.1"
TARGET = "DynamoDB_20120810."
CONTENT = "application/x-amz-json-1.0"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that runs: its URL, and the script it plays."""

    url: str
    script: Script


@contextmanager
def proxied(engine: str, script: Script, *, hold: float = 0.2) -> Generator[Proxy]:
    """Run a proxy in front of an engine's URL for as long as the block lasts."""
    upstream = urlsplit(engine).netloc
    server = _Server((HOST, 0), _Handler)
    server.script, server.upstream, server.hold = script, upstream, hold
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="proxy of the tests", daemon=True)
    thread.start()
    try:
        yield Proxy(f"http://{HOST}:{server.server_port}", script)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    """Serves each connection in a thread of its own, which ends with its connection."""

    daemon_threads = True
    request_queue_size = 128
    script: Script
    upstream: str
    hold: float

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.resets: set[Any] = set()

    def shutdown_request(self, request: Any) -> None:
        """End a connection; without the usual goodbye where it is to be reset."""
        if request in self.resets:
            self.resets.discard(request)
            self.close_request(request)
        else:
            super().shutdown_request(request)


class _EngineError(Exception):
    """The engine answered with an error, which is passed on as it is."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


class _Handler(BaseHTTPRequestHandler):
    """Plays the script for one request after another of a connection."""

    protocol_version = "HTTP/1.1"

    @property
    def proxy(self) -> _Server:
        """The server that holds the script."""
        return cast(_Server, self.server)

    def do_POST(self) -> None:
        """Answer one request of DynamoDB's protocol, or none."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        method = _snake(self.headers["X-Amz-Target"].removeprefix(TARGET))
        upstream = HTTPConnection(self.proxy.upstream, timeout=60)
        flow = self.proxy.script.play(method, json.loads(body))
        try:
            self._answer(200, json.dumps(play(flow, lambda step: self._forward(upstream, step))).encode())
        except _EngineError as error:
            self._answer(error.status, error.body)
        except Refused as refused:
            told = {"__type": f"com.amazonaws.dynamodb.v20120810#{refused.code}", "message": refused.message}
            self._answer(refused.status, json.dumps({**told, **refused.more}).encode())
        except Lost as lost:
            self._lose(lost)
        finally:
            upstream.close()

    def _forward(self, upstream: HTTPConnection, step: Send) -> dict[str, Any]:
        headers = {
            name: value for name, value in self.headers.items() if name.lower() not in ("content-length", "host")
        }
        headers["X-Amz-Target"] = TARGET + "".join(word.title() for word in step.method.split("_"))
        upstream.request("POST", "/", json.dumps(step.params).encode(), headers)
        response = upstream.getresponse()
        body = response.read()
        if response.status != 200:
            raise _EngineError(response.status, body)
        answer: dict[str, Any] = json.loads(body)
        return answer

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", CONTENT)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _lose(self, lost: Lost) -> None:
        """Close the connection without an answer: at once, after a while, or by a reset."""
        self.close_connection = True
        if lost.how == "timeout":
            time.sleep(self.proxy.hold)
        if lost.how == "unsent":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.proxy.resets.add(self.connection)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a lost connection is what was asked for."""


def _snake(operation: str) -> str:
    """Give the name of boto3's method for an operation.

    >>> _snake("BatchWriteItem")
    'batch_write_item'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).lower()
