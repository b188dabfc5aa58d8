"""An embedded DynamoDB: moto, in this process, behind one client.

Theory of operation. The client's `before-send` event answers every request from a moto backend of the store's own,
under one lock, since moto's updates and transactions are not atomic under threads. Nothing global is touched: no
environment variable, no patched class, no other client; and nothing of the user's AWS configuration is read, be it
missing or broken. Two local stores do not see each other, and `mock_aws` in the same process neither sees nor resets
them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, Any

from singletable.errors import ConfigurationError
from singletable.forking import MAKING, forget_in_child

if TYPE_CHECKING:
    from boto3 import Session
    from types_boto3_dynamodb import DynamoDBClient

__all__ = ["local_client"]

REGION = "us-east-1"
ACCOUNT = "123456789012"


class _Turn:
    """The lock of one embedded engine."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Let nobody hold the lock, as in a forked child."""
        self.lock = RLock()


def local_client() -> DynamoDBClient:
    """Make a boto3 client that an embedded engine answers. ConfigurationError where moto is not installed."""
    from botocore.config import Config

    options: dict[str, Any] = {  # the stubs do not know all of them
        "ignore_configured_endpoint_urls": True,
        "retries": {"total_max_attempts": 1},
        "proxies": {},
        "use_dualstack_endpoint": False,
    }
    with MAKING:  # a boto3 session makes one at a time
        client: DynamoDBClient = _session().client("dynamodb", config=Config(**options))
    client.meta.events.register("before-send.dynamodb", _engine())
    return client


@cache
def _session() -> Session:
    """Make the session of all local stores: reading botocore's models takes most of a client's making.

    What a client hooks into is its own, so stores that share a session still do not see each other.
    """
    import boto3
    from botocore.session import Session as Core

    defaults = {name: (None, None, default, read) for name, (_, _, default, read) in Core.SESSION_VARIABLES.items()}
    nowhere = dict.fromkeys(("config_file", "credentials_file"), (None, None, None, None))
    return boto3.Session(
        aws_access_key_id="local",
        aws_secret_access_key="local",
        region_name=REGION,
        botocore_session=Core(session_vars={**defaults, **nowhere}),
    )


def _engine() -> Callable[..., Any]:
    try:
        from moto.dynamodb.models import DynamoDBBackend
        from moto.dynamodb.responses import DynamoHandler
    except ImportError as error:
        raise ConfigurationError(
            "Store.local needs moto, which is not installed",
            hint='install the extra: pip install "singletable[local]"',
            missing="moto",
        ) from error
    from botocore.awsrequest import AWSResponse
    from moto.core.botocore_stubber import MockRawResponse
    from moto.core.request import normalize_request
    from werkzeug.exceptions import HTTPException

    backend, turn = DynamoDBBackend(REGION, ACCOUNT), _Turn()
    forget_in_child(turn, _Turn.forget)

    class Handler(DynamoHandler):
        """moto's request handler, bound to this store's backend."""

        @property
        def dynamodb_backend(self) -> DynamoDBBackend:
            return backend

    def answer(request: Any, **_: Any) -> AWSResponse:
        """Answer one signed request without sending it."""
        plain = normalize_request(request)
        status: Any
        headers: Any
        with turn.lock:
            try:
                status, headers, body = Handler.dispatch(plain, plain.raw_url, plain.headers)
            except HTTPException as error:
                status, headers, body = error.code, error.get_headers(), error.get_body()
        return AWSResponse(request.url, status, headers, MockRawResponse(body))

    return answer
