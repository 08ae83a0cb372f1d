"""Transports of httpx (or httpx2, which has the same) that record calls of models."""

import time
from contextlib import contextmanager
from typing import Any, Iterator, Optional

from ._exchange import MOST, Redact, body_of, is_call
from ._recorder import CallRecorder, OpenCall
from ._shared import known_options, shared_recorder


class _Recording:
    """What both transports share: the options, and how a call begins and ends."""

    def __init__(
        self,
        transport: Any,
        *,
        history: Optional[str] = None,
        run: Optional[str] = None,
        calls: Optional[CallRecorder] = None,
        _owns: bool = True,
        **options: Any,
    ) -> None:
        self._transport, self._owns = transport, _owns
        self._history, self._run = history, run
        self._calls, self._options = calls, known_options("the recorder", options)

    def _begin(self, request: Any) -> Optional[OpenCall]:
        try:
            method, path = str(request.method), str(request.url.path)
            if not is_call(method, path):
                return None
            body = _known_body(request)

            def said(redact: Redact) -> "dict[str, Any]":
                kind = request.headers.get("content-type")
                return {
                    **{"form": "wire", "method": method, "path": path, "origin": _origin(request.url)},
                    **{"content_type": kind[:500] if kind else None, **_coding(request)},
                    "body": body_of(body, redact),
                }

            calls = self._calls or shared_recorder(**self._options)
            return calls.begin(said, self._history, self._run)
        except Exception:
            return None

    def _watched(self, call: Optional[OpenCall], response: Any, base: str, mixin: type) -> Any:
        """The response, with a stream in the place of its own that copies what passes."""
        if call is None:
            return response
        try:
            watch = _Watch(call, response)
            if hasattr(response, "_content"):
                watch.add(response._content)
                watch.done()
            else:
                response.stream = _stream(mixin, _base_of(response.stream, base), response.stream, watch)
        except Exception:
            call.end(_unknown)
        return response


class RecordingTransport(_Recording):
    """A transport for `httpx.Client`. It gives what the other one gives, the same bytes, when they come."""

    def __init__(self, transport: Any = None, **options: Any) -> None:
        super().__init__(_httpx().HTTPTransport() if transport is None else transport, **options)

    def handle_request(self, request: Any) -> Any:
        call = self._begin(request)
        with _sending(call):
            response = self._transport.handle_request(request)
        return self._watched(call, response, "SyncByteStream", _SyncStream)

    def close(self) -> None:
        if self._owns:
            self._transport.close()

    def __enter__(self) -> "RecordingTransport":
        if self._owns:
            self._transport.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._owns:
            self._transport.__exit__(*error)


class AsyncRecordingTransport(_Recording):
    """A transport for `httpx.AsyncClient`. It gives what the other one gives, the same bytes, when they come."""

    def __init__(self, transport: Any = None, **options: Any) -> None:
        super().__init__(_httpx().AsyncHTTPTransport() if transport is None else transport, **options)

    async def handle_async_request(self, request: Any) -> Any:
        call = self._begin(request)
        with _sending(call):
            response = await self._transport.handle_async_request(request)
        return self._watched(call, response, "AsyncByteStream", _AsyncStream)

    async def aclose(self) -> None:
        if self._owns:
            await self._transport.aclose()

    async def __aenter__(self) -> "AsyncRecordingTransport":
        if self._owns:
            await self._transport.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        if self._owns:
            await self._transport.__aexit__(*error)


class _Watch:
    """What came of a response."""

    def __init__(self, call: OpenCall, response: Any) -> None:
        self._call, self._status = call, int(response.status_code)
        self._type = response.headers.get("content-type")
        self._coding = _coding(response)
        retry = response.headers.get("retry-after")
        self._retry = retry[:500] if retry else None
        self._pieces: "Optional[list[bytes]]" = []
        self._size = 0
        self._first: Optional[int] = None

    def add(self, piece: bytes) -> None:
        if self._first is None:
            self._first = int((time.monotonic() - self._call.began) * 1000)
        self._size += len(piece)
        if self._size > MOST:
            self._pieces = None
        if self._pieces is not None:
            self._pieces.append(bytes(piece))

    def done(self) -> None:
        self._end("answered", None)

    @contextmanager
    def passing(self) -> "Iterator[None]":
        """What passes in it is all that comes, unless an error ends it."""
        try:
            yield
        except GeneratorExit:
            raise
        except BaseException as error:
            status, said = _status_of(error, "the connection ended in the middle of the answer")
            self._end(status, said)
            raise
        self.done()

    def left(self) -> None:
        self._end("cancelled", {"code": None, "message": "the client ended the call"})

    def _end(self, status: str, error: "Optional[dict[str, Any]]") -> None:
        if self._status >= 400:
            # Who has read of an error what it wants to know leaves the rest.
            status, error = "timed out" if self._status in (408, 504) else "failed", None
        body = None if self._pieces is None else b"".join(self._pieces)

        def ending(redact: Redact) -> "dict[str, Any]":
            response = {
                "form": "wire",
                "http_status": self._status,
                "content_type": self._type[:500] if self._type else None,
                "retry_after": self._retry,
                **self._coding,
                "body": body_of(body, redact),
            }
            return {"status": status, "first_byte_ms": self._first, "error": error, "response": response}

        self._call.end(ending)


class _SyncStream:
    def __init__(self, stream: Any, watch: _Watch) -> None:
        self._stream, self._watch = stream, watch

    def __iter__(self) -> Any:
        with self._watch.passing():
            for piece in self._stream:
                self._watch.add(piece)
                yield piece

    def close(self) -> None:
        self._watch.left()
        self._stream.close()


class _AsyncStream:
    def __init__(self, stream: Any, watch: _Watch) -> None:
        self._stream, self._watch = stream, watch

    async def __aiter__(self) -> Any:
        with self._watch.passing():
            async for piece in self._stream:
                self._watch.add(piece)
                yield piece

    async def aclose(self) -> None:
        self._watch.left()
        await self._stream.aclose()


_classes: "dict[tuple[type, type], type]" = {}


def _stream(mixin: type, base: type, stream: Any, watch: _Watch) -> Any:
    """A stream that is one for the client's library, whichever that is."""
    key = (mixin, base)
    if key not in _classes:
        _classes[key] = type("RecordedStream", (mixin, base), {})
    return _classes[key](stream, watch)


def _base_of(stream: Any, name: str) -> type:
    return next(kind for kind in type(stream).__mro__ if kind.__name__ == name)


def _known_body(request: Any) -> Optional[bytes]:
    """The body, if it is there as a whole: what comes piece by piece is the transport's alone."""
    try:
        return bytes(request.content)
    except Exception:
        return None


def _origin(url: Any) -> Optional[str]:
    """Where a request goes: scheme, host and port, without a user."""
    try:
        host = str(url.host)
        host = f"[{host}]" if ":" in host else host
        port = "" if url.port is None else f":{url.port}"
        return f"{url.scheme}://{host}{port}" if url.scheme in ("http", "https") and host else None
    except Exception:
        return None


def _coding(message: Any) -> "dict[str, str]":
    coding = message.headers.get("content-encoding")
    return {"coding": coding[:100]} if coding else {}


@contextmanager
def _sending(call: Optional[OpenCall]) -> "Iterator[None]":
    """Tells how a call ended that raises. The message may hold an address with a key, so it is not kept."""
    try:
        yield
    except BaseException as error:
        if call is not None:
            status, said = _status_of(error, "the provider cannot be reached or ended the connection")
            call.end(lambda _: {"status": status, "first_byte_ms": None, "error": said, "response": None})
        raise


def _status_of(error: BaseException, otherwise: str) -> "tuple[str, dict[str, Any]]":
    names = [kind.__name__ for kind in type(error).__mro__]
    if any("Timeout" in name for name in names):
        return "timed out", {"code": names[0], "message": "no answer came in time"}
    if any(name in ("CancelledError", "GeneratorExit", "KeyboardInterrupt", "Cancelled") for name in names):
        return "cancelled", {"code": None, "message": "the client ended the call"}
    return "failed", {"code": names[0], "message": otherwise}


def _unknown(_: Redact) -> "dict[str, Any]":
    return {"status": "unknown", "first_byte_ms": None, "error": None, "response": None}


def _httpx() -> Any:
    """The library that is installed."""
    try:
        import httpx

        return httpx
    except ImportError:
        import httpx2

        return httpx2
