"""botocore's exceptions as what the wire protocol knows: a refusal, a lost reply, or a client that cannot be made.

The only module that reads botocore's error classes; it loads botocore when the first error is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from singletable.errors import ConfigurationError
from singletable.wire import NoReply, Refusal

__all__ = ["reraise"]


def reraise(error: Exception, endpoint: str) -> NoReturn:
    """Raise what a botocore exception means, with it as the cause; any other exception is raised as it is.

    Refusal for an error that DynamoDB answered, NoReply where no answer came, ConfigurationError where no request could
    be made: for want of a region or credentials, or (with no `endpoint` yet) since none can be made of the settings.
    """
    from botocore import exceptions as theirs

    if isinstance(error, theirs.ClientError):
        raise _refusal(error.response) from error
    if isinstance(error, theirs.EndpointConnectionError | theirs.ConnectTimeoutError | theirs.ProxyConnectionError):
        raise NoReply(str(error), endpoint=endpoint, sent=_broke(error)) from error
    if isinstance(error, theirs.HTTPClientError | theirs.ConnectionError):
        raise NoReply(str(error), endpoint=endpoint, sent=True) from error
    if isinstance(error, theirs.NoRegionError):
        raise ConfigurationError(
            "no AWS region is set",
            hint="pass Store(table, region=...), or set AWS_DEFAULT_REGION or a region in ~/.aws/config",
            missing="region",
        ) from error
    if isinstance(error, theirs.NoCredentialsError | theirs.PartialCredentialsError | theirs.CredentialRetrievalError):
        raise ConfigurationError(
            "no AWS credentials were found",
            hint="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role; any values do for a local "
            "engine. Without AWS: Store.local(table)",
            missing="credentials" if isinstance(error, theirs.NoCredentialsError) else None,
        ) from error
    if not endpoint and isinstance(error, theirs.BotoCoreError | ValueError):
        raise ConfigurationError(
            f"no AWS client can be made: {error}", hint="check the endpoint, the region and the AWS profile"
        ) from error
    raise error


def _broke(error: Exception) -> bool:
    """Tell whether a connection that was there broke, and the request with it.

    aiobotocore says EndpointConnectionError of it too, where aiohttp says ClientOSError; a connection that could not be
    made is a ClientConnectorError, which is a kind of that.
    """
    under = getattr(error, "kwargs", {}).get("error")
    names = {kind.__name__ for kind in type(under).__mro__}
    return "ClientConnectionError" in names and "ClientConnectorError" not in names


def _refusal(response: Mapping[str, Any]) -> Refusal:
    detail: Mapping[str, Any] = response.get("Error", {})
    metadata: Mapping[str, Any] = response.get("ResponseMetadata", {})
    return Refusal(
        detail.get("Code", "Unknown"),
        detail.get("Message", ""),
        status=metadata.get("HTTPStatusCode", 400),
        item=response.get("Item"),
        sent=1 + metadata.get("RetryAttempts", 0),
    )
