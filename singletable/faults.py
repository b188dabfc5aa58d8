"""botocore's exceptions as what the wire protocol knows: a refusal, a lost reply, or a client that cannot be made.

The only module that reads botocore's error classes; it loads botocore when the first error is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn

from singletable.errors import ConfigurationError, SingleTableError, UsageError
from singletable.wire import NoReply, Reason, Refusal

__all__ = ["reraise"]


def reraise(error: Exception, endpoint: str) -> NoReturn:
    """Raise what a botocore exception means, with it as the cause; any other exception is raised as it is.

    Refusal for an error that DynamoDB answered, NoReply where no answer came, ConfigurationError where no request could
    be made: for want of a region, a profile or credentials, or since none can be made of the settings. UsageError for
    parameters that botocore refuses; it has no cause, since botocore's message shows the values. `endpoint` is empty
    while there is no client yet.
    """
    from botocore import exceptions as theirs

    if isinstance(error, theirs.ClientError):
        raise _refusal(error.response) from error
    if isinstance(error, theirs.EndpointConnectionError | theirs.ConnectTimeoutError | theirs.ProxyConnectionError):
        raise NoReply(str(error), endpoint=endpoint, sent=_broke(error)) from error
    if isinstance(error, theirs.HTTPClientError | theirs.ConnectionError):
        raise NoReply(str(error), endpoint=endpoint, sent=True) from error
    if isinstance(error, theirs.ParamValidationError):
        raise _unfit(str(error)) from None
    if isinstance(error, theirs.BotoCoreError) or (not endpoint and isinstance(error, ValueError)):
        raise _unconfigured(error) from error
    raise error


def _unfit(report: str) -> SingleTableError:
    """Say which parameters botocore refuses, without their values."""
    names = ", ".join(dict.fromkeys(re.findall(r"(?:for parameter|parameter in) ([\w.\[\]-]+)", report)))
    return UsageError(
        "nothing was sent: botocore refuses the request's parameters" + (f" {names}" if names else ""),
        hint="a codec of the user's wrote what is no DynamoDB JSON, or a key= or params are given by hand",
    )


def _unconfigured(error: Exception) -> ConfigurationError:
    """Say what is missing, or why no client or request can be made of the settings."""
    from botocore import exceptions as theirs

    if isinstance(error, theirs.NoRegionError):
        return ConfigurationError(
            "no AWS region is set",
            hint="pass Store(table, region=...), or set AWS_DEFAULT_REGION or a region in ~/.aws/config",
            missing="region",
        )
    if isinstance(error, theirs.NoCredentialsError | theirs.PartialCredentialsError | theirs.CredentialRetrievalError):
        return ConfigurationError(
            "no AWS credentials were found",
            hint="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role; any values do for a local "
            "engine. Without AWS: Store.local(table)",
            missing="credentials" if isinstance(error, theirs.NoCredentialsError) else None,
        )
    if isinstance(error, _signed_out()):
        return ConfigurationError(
            "the AWS sign-in has expired or was never made, so there are no credentials",
            hint="sign in again with `aws sso login` or `aws login`, or choose another AWS_PROFILE",
            missing="credentials",
        )
    if isinstance(error, theirs.ProfileNotFound):
        return ConfigurationError(
            "the AWS profile that is chosen does not exist",
            hint="unset AWS_PROFILE, or add the profile to ~/.aws/config; `aws configure list-profiles` shows them all",
            missing="profile",
        )
    return ConfigurationError(
        f"no AWS client or request can be made: {error}", hint="check the endpoint, the region and the AWS profile"
    )


def _signed_out() -> tuple[type[Exception], ...]:
    """List botocore's errors for a sign-in that must be made again; `LoginError` came with botocore 1.42."""
    from botocore import exceptions as theirs

    names = ("SSOError", "TokenRetrievalError", "NoAuthTokenError", "LoginError")
    return tuple(getattr(theirs, name) for name in names if hasattr(theirs, name))


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
        reasons=[
            Reason(reason.get("Code", "None"), reason.get("Message", ""), reason.get("Item"))
            for reason in response.get("CancellationReasons", ())
        ],
    )
