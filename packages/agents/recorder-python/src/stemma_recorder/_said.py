"""For agents without a client that can be recorded: they say what they ask, and what came back."""

from typing import Any, Iterable, Mapping, Optional, Union

from ._exchange import Redact, said_of
from ._recorder import CallRecorder, OpenCall, say_unknown
from ._shared import known_options, shared_recorder

_USAGE = ("input", "output", "cached", "cache_write", "reasoning")


class RecordedCall:
    """A call that was said, for `record_answer`."""

    def __init__(self, call: Optional[OpenCall]) -> None:
        self.id = "" if call is None else call.id
        self._call = call


def record_call(
    messages: Iterable[Any],
    *,
    model: Optional[str] = None,
    tools: Optional[Iterable[Any]] = None,
    parameters: Optional[Mapping[str, Any]] = None,
    history: Optional[str] = None,
    run: Optional[str] = None,
    calls: Optional[CallRecorder] = None,
    **options: Any,
) -> RecordedCall:
    """Says which call is made now, in the form of OpenAI's chat API. It raises nothing."""

    def said(redact: Redact) -> "dict[str, Any]":
        return {
            "form": "said",
            "model": None if model is None else str(model)[:512],
            "messages": said_of(list(messages), redact),
            "parameters": said_of(dict(parameters or {}), redact),
            "tools": None if tools is None else said_of(list(tools), redact),
        }

    try:
        options = known_options("record_call", options)
        return RecordedCall((calls or shared_recorder(**options)).begin(said, history, run))
    except Exception:
        return RecordedCall(None)


def record_answer(
    call: RecordedCall,
    *,
    answer: Union[Mapping[str, Any], str, Any, None] = None,
    error: Any = None,
    status: Optional[str] = None,
    model: Optional[str] = None,
    finish_reason: Optional[str] = None,
    answer_id: Optional[str] = None,
    usage: Optional[Mapping[str, Any]] = None,
    first_byte_ms: Optional[float] = None,
    duration_ms: Optional[float] = None,
    **unknown: Any,
) -> None:
    """Says how a call ended: with an answer (a message, or its text), or with an error. It raises nothing.

    usage: `input`, `output`, `cached`, `cache_write`, `cache_write_1h`, `reasoning`. answer_id: the name by which a
    later call goes on from the answer (`previous_response_id`), if its provider keeps it. Only the first end of a call
    counts.
    """
    say_unknown("record_answer", unknown, None)
    if not isinstance(call, RecordedCall) or call._call is None:
        return
    message = {"role": "assistant", "content": answer} if isinstance(answer, str) else answer

    def ending(redact: Redact) -> "dict[str, Any]":
        end: "dict[str, Any]" = {
            "status": status or ("failed" if answer is None else "answered"),
            "first_byte_ms": None if first_byte_ms is None else round(first_byte_ms),
            "error": None if error is None else _error(error, redact),
            "response": {
                "form": "said",
                "answer": None if message is None else said_of(message, redact),
                "finish_reason": finish_reason,
                "model": model,
                "usage": None if usage is None else _usage(usage),
            },
        }
        if answer_id is not None:
            end["response"]["answer_id"] = str(answer_id)[:512]
        if duration_ms is not None:
            end["duration_ms"] = round(duration_ms)
        return end

    call._call.end(ending)


def _usage(usage: Mapping[str, Any]) -> "dict[str, Optional[int]]":
    counts = {name: _count(usage.get(name)) for name in _USAGE}
    # A gateway of an earlier version does not know it.
    if usage.get("cache_write_1h") is not None:
        counts["cache_write_1h"] = _count(usage.get("cache_write_1h"))
    return counts


def _count(value: Any) -> Optional[int]:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _error(error: Any, redact: Redact) -> "dict[str, Any]":
    text = str(error)[:2000]
    code = type(error).__name__ if isinstance(error, BaseException) else None
    return {"code": code, "message": text if redact is None else redact(text)}
