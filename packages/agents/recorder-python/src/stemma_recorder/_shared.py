"""The recorders of this process: who records alike shares one."""

import inspect
import threading
from typing import Any, Callable, Optional

from ._recorder import CallRecorder, RecorderStatus, open_call_recorder, say_unknown

_OPTIONS = frozenset(inspect.signature(open_call_recorder).parameters) - {"unknown"}

_recorders: "dict[str, CallRecorder]" = {}
_lock = threading.Lock()


def shared_recorder(*, warn: Optional[Callable[[str], None]] = None, **options: Any) -> CallRecorder:
    """The recorder with these options of `open_call_recorder`; it is opened when it is first asked for."""
    key = repr(sorted((name, value) for name, value in options.items() if value is not None))
    with _lock:
        if key not in _recorders:
            _recorders[key] = open_call_recorder(warn=warn, **options)
        return _recorders[key]


def known_options(what: str, options: "dict[str, Any]") -> "dict[str, Any]":
    """The options that a recorder has; the others are said once. It raises nothing."""
    say_unknown(what, [name for name in options if name not in _OPTIONS], options.get("warn"))
    return {name: value for name, value in options.items() if name in _OPTIONS}


def flush(timeout: float = 5.0) -> bool:
    """True when every call of this process is recorded; False when the time is over."""
    return all([recorder.flush(timeout) for recorder in list(_recorders.values())])


def close(timeout: float = 5.0) -> bool:
    """As `flush`; what is recorded afterwards opens recorders of its own. What waits is sent by the next process."""
    with _lock:
        recorders = list(_recorders.values())
        _recorders.clear()
    return all([recorder.close(timeout) for recorder in recorders])


def status() -> RecorderStatus:
    """What the recorders of this process did."""
    every = [recorder.status() for recorder in list(_recorders.values())]
    return RecorderStatus(
        waiting=sum(one.waiting for one in every),
        recorded=sum(one.recorded for one in every),
        dropped=sum(one.dropped for one in every),
        refused=sum(one.refused for one in every),
        last_error=next((one.last_error for one in every if one.last_error is not None), None),
        directory=every[0].directory if every else None,
    )
