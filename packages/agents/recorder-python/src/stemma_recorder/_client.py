"""Records the calls of a client."""

import copy
from typing import Any, Callable, Optional, TypeVar

from ._recorder import CallRecorder, _say
from ._transport import AsyncRecordingTransport, RecordingTransport

Client = TypeVar("Client")


def record(
    client: Client,
    *,
    history: Optional[str] = None,
    run: Optional[str] = None,
    calls: Optional[CallRecorder] = None,
    warn: Optional[Callable[[str], None]] = None,
    **options: Any,
) -> Client:
    """The client of `openai` or `anthropic`, with its calls recorded, or one of `httpx`.

    They go where they would have gone, with the same keys, retries and timeouts. The client that is given is not changed.
    One of an unknown kind is returned as it is, and said.
    """
    given = {"history": history, "run": run, "calls": calls, "warn": warn, **options}
    try:
        if _is_http_client(client):
            return _recorded(client, given)
        http_client = getattr(client, "_client", None)
        with_options = getattr(client, "with_options", None)
        if callable(with_options) and _is_http_client(http_client):
            return with_options(http_client=_recorded(http_client, given))
        (warn or _say)(
            "the client is of no known kind: give its httpx client a RecordingTransport, or say its calls with record_call"
        )
    except Exception as error:
        _safely(warn or _say, f"the calls of the client are not recorded: {error}")
    return client


def _safely(warn: Callable[[str], None], sentence: str) -> None:
    try:
        warn(sentence)
    except Exception:
        pass


def _is_http_client(client: Any) -> bool:
    return hasattr(client, "_transport") and hasattr(client, "_mounts") and hasattr(client, "build_request")


def _recorded(client: Any, options: "dict[str, Any]") -> Any:
    """A client with the same connections. They are closed by the one that was given, which lives as long."""
    kind = AsyncRecordingTransport if hasattr(client, "aclose") else RecordingTransport

    def wrapped(transport: Any) -> Any:
        return None if transport is None else kind(transport, _owns=False, **options)

    made = copy.copy(client)
    made._transport = wrapped(client._transport)
    made._mounts = {pattern: wrapped(transport) for pattern, transport in client._mounts.items()}
    made._stemma_recorded = client
    return made
