"""The recorders of this process: who records alike shares one."""

import threading
from typing import Any, Callable, Optional

from ._exchange import Rules
from ._recorder import LIMIT, CallRecorder, RecorderStatus, open_call_recorder

_recorders: "dict[str, CallRecorder]" = {}
_lock = threading.Lock()


def shared_recorder(
    *,
    url: Optional[str] = None,
    recorder: str = "recorder",
    redact: Rules = None,
    directory: Optional[str] = None,
    limit: int = LIMIT,
    exit_timeout: float = 2.0,
    warn: Optional[Callable[[str], None]] = None,
) -> CallRecorder:
    """The recorder with these options; it is opened when it is first asked for."""
    options: "dict[str, Any]" = {
        "url": url,
        "recorder": recorder,
        "redact": redact,
        "directory": directory,
        "limit": limit,
        "exit_timeout": exit_timeout,
    }
    key = repr(sorted(options.items()))
    with _lock:
        if key not in _recorders:
            _recorders[key] = open_call_recorder(warn=warn, **options)
        return _recorders[key]


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
