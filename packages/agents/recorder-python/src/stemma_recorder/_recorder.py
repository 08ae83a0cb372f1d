"""Keeps calls, and sends them in the background."""

import atexit
import hashlib
import os
import random
import secrets
import sys
import threading
import time
import weakref
from collections import deque
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Optional, Union

from ._exchange import Redact, Rules, dump, redact_of, without_bodies
from ._post import Outcome, post, post_several
from ._spool import Damaged, DiskSpool, MemorySpool, MemoryWaiting, Waiting

DEFAULT_URL = "http://127.0.0.1:7836"
_MIB = 1024 * 1024
LIMIT = 256 * _MIB
# The most bytes that wait in memory where the disk takes none.
_MEMORY = 32 * _MIB
# Seconds: until a try again, at first and at most, and until an answer.
TIMES = (0.25, 30.0, 30.0)
# How often a recorder looks for what processes left that ended, in seconds.
_LOOK = 60.0
# So often a server may fail on one exchange before the others go on without it.
_MOST_FAULTS = 8
# So many exchanges, and bytes of them, go out together. A server that takes none together is asked again after so many.
_TOGETHER, _TOGETHER_BYTES = 64, 4 * _MIB


@dataclass(frozen=True)
class RecorderStatus:
    """What a recorder did since it was opened."""

    waiting: int
    recorded: int
    dropped: int
    refused: int
    last_error: Optional[str]
    directory: Optional[str]


class OpenCall:
    """A call that is being recorded. Nothing of it raises; only the first end counts."""

    def __init__(self, recorder: "CallRecorder", exchange: "dict[str, Any]") -> None:
        self.id: str = exchange["id"]
        self.began = time.monotonic()
        self._recorder, self._exchange, self._is_over = recorder, exchange, False

    def end(self, ending: Callable[[Redact], "dict[str, Any]"]) -> None:
        if self._is_over:
            return
        self._is_over = True
        elapsed = int((time.monotonic() - self.began) * 1000)
        self._recorder._keep(self._exchange, ending, elapsed)


class CallRecorder:
    """Records calls on a gateway. Open one with `open_call_recorder`. None of its methods raises."""

    def __init__(
        self,
        url: Optional[str],
        recorder: str,
        redact: Rules,
        directory: Optional[str],
        limit: int,
        exit_timeout: float,
        warn: Optional[Callable[[str], None]],
        times: "tuple[float, float, float]",
    ) -> None:
        self.url = (url or os.environ.get("STEMMA_URL") or DEFAULT_URL).rstrip("/")
        self.name = _without_password(self.url)
        self._recorder, self._limit, self._directory = recorder, limit, directory
        self._exit_timeout, self._times = exit_timeout, times
        self._warn = warn or _say
        self._said: "set[str]" = set()
        self._is_closed = self._is_off = False
        self._last_error: Optional[str] = None
        self._recorded = self._dropped = self._refused = 0
        self._redact: Redact = None
        try:
            self._redact = redact_of(redact)
        except Exception as error:
            self._is_off = True
            self._fault("rules", str(error), f"no call is recorded: the rules of redaction cannot be read: {error}")
        self._start()
        _opened.add(self)

    def _start(self) -> None:
        """What belongs to one process: a fork begins anew."""
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._queue: "deque[Union[Waiting, MemoryWaiting]]" = deque()
        self._failed = self._faults = self._alone = 0
        self._hurry = False
        self._thread: Optional[threading.Thread] = None
        self._memory = MemorySpool(min(self._limit, _MEMORY))
        self._spool = self._open_spool()
        self._take_over()

    def _open_spool(self) -> Union[DiskSpool, MemorySpool]:
        try:
            folder = self._directory or os.environ.get("STEMMA_SPOOL") or os.path.join(_state_folder(), "recorder")
            key = hashlib.sha256(self.name.encode()).hexdigest()[:16]
            return DiskSpool(os.path.join(folder, key), self._limit, self._damaged)
        except OSError as error:
            self._in_memory(error)
            return self._memory

    def begin(self, request: Callable[[Redact], "dict[str, Any]"], history: Optional[str], run: Optional[str]) -> "Optional[OpenCall]":
        """Notes that a call began; None: it is not recorded."""
        if self._is_closed:
            return None
        if self._is_off:
            self._dropped += 1
            return None
        try:
            exchange = {
                "id": f"call-{secrets.token_hex(16)}",
                "recorder": self._recorder,
                **_scope_of(history, run),
                "request": request(self._redact),
                "sent_at": time.time_ns() // 1_000_000,
                "end": None,
            }
            with self._lock:
                try:
                    self._spool.begin(exchange["id"], dump(exchange))
                except OSError as error:
                    self._in_memory(error)
            return OpenCall(self, exchange)
        except Exception as error:
            self._not_recorded(error)
            return None

    def flush(self, timeout: float = 5.0) -> bool:
        """True when everything is recorded; False when the time is over."""
        until = time.monotonic() + timeout
        with self._lock:
            self._hurry = True
            self._wake()
            self._changed.notify_all()
            while self._queue:
                rest = until - time.monotonic()
                if rest <= 0:
                    return False
                self._changed.wait(rest)
        return True

    def close(self, timeout: float = 5.0) -> bool:
        """As `flush`; then records nothing any more. What waits is sent by the next process."""
        done = self.flush(timeout)
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._changed.notify_all()
                self._leave()
        _opened.discard(self)
        return done

    def status(self) -> RecorderStatus:
        with self._lock:
            return RecorderStatus(
                len(self._queue), self._recorded, self._dropped, self._refused, self._last_error, self._spool.directory
            )

    def _keep(self, exchange: "dict[str, Any]", ending: Callable[[Redact], "dict[str, Any]"], elapsed: int) -> None:
        if self._is_closed:
            return
        try:
            end = {"duration_ms": elapsed, **ending(self._redact)}
            body = dump({**exchange, "end": end})
            with self._lock:
                waiting: "Union[Waiting, MemoryWaiting, None]"
                try:
                    waiting = self._spool.keep(exchange["id"], body)
                except OSError as error:
                    self._in_memory(error)
                    waiting = self._memory.keep(exchange["id"], body)
                if waiting is None:
                    self._dropped += 1
                    self._fault(
                        "room", "there is no room", f"calls are not recorded: {self._limit} bytes of calls wait already"
                    )
                    return
                self._queue.append(waiting)
                self._wake()
                self._changed.notify_all()
        except Exception as error:
            self._not_recorded(error)

    def _wake(self) -> None:
        """Starts the thread that sends, if there is something to send."""
        if self._thread is None and self._queue and not self._is_closed:
            self._thread = threading.Thread(target=self._run, name="stemma-recorder", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:
                # The interpreter is ending: the next process sends it.
                self._thread = None

    def _run(self) -> None:
        looked = time.monotonic()
        while not self._is_closed:
            with self._lock:
                if not self._queue:
                    self._changed.wait(_LOOK)
                waiting = self._queue[0] if self._queue else None
            if waiting is not None and not self._send_several() and not self._send(waiting):
                first, longest, _ = self._times
                pause = min(longest, first * 2 ** min(self._failed - 1, 20)) * random.uniform(0.5, 1.0)
                until = time.monotonic() + pause
                with self._lock:
                    while not self._hurry and not self._is_closed and time.monotonic() < until:
                        self._changed.wait(max(0.001, until - time.monotonic()))
                    self._hurry = False
            if time.monotonic() - looked >= _LOOK:
                looked = time.monotonic()
                with self._lock:
                    self._take_over()

    def _send_several(self) -> bool:
        """Sends several together if several wait. False: the first is to go alone."""
        with self._lock:
            first = [one for one, _ in zip(self._queue, range(_TOGETHER))]
        # One that waited for a server that was away finds out whether it is back.
        if len(first) < 2 or self._failed > 0:
            return False
        if self._alone > 0:
            self._alone -= 1
            return False
        sent: "list[tuple[str, bytes]]" = []
        size = 0
        try:
            for waiting in first:
                body = waiting.read()
                size += len(body)
                if size > _TOGETHER_BYTES:
                    break
                sent.append((waiting.id, body))
        except (Damaged, OSError):
            pass  # It goes alone when it is the first.
        if len(sent) < 2:
            return False
        outcomes = post_several(self.url, sent, self._times[2])
        if not outcomes:
            self._alone = _TOGETHER
        settled = False
        for waiting, outcome in zip(first, outcomes):
            if outcome.kind not in ("recorded", "refused", "erased"):
                break
            with self._lock:
                settled = self._settle(waiting, outcome)
        return settled

    def _send(self, waiting: Union[Waiting, MemoryWaiting]) -> bool:
        """False: it is sent again later."""
        try:
            body = waiting.read()
        except Damaged as error:
            with self._lock:
                self._queue.popleft()
                waiting.set_aside()
                self._fault("damaged", str(error), f"a call that waited cannot be sent: {error}")
                self._changed.notify_all()
            return True
        except OSError as error:
            self._failed += 1
            self._last_error = str(error)
            return False
        answer = self._times[2]
        outcome = post(self.url, waiting.id, body, answer)
        if outcome.kind == "too large":
            outcome = post(self.url, waiting.id, without_bodies(body), answer)
        if outcome.kind == "too large":
            outcome = Outcome("refused", "it is too large")
        with self._lock:
            return self._settle(waiting, outcome)

    def _settle(self, waiting: Union[Waiting, MemoryWaiting], outcome: Outcome) -> bool:
        if outcome.is_fault:
            self._faults += 1
            if self._faults >= _MOST_FAULTS:
                outcome = Outcome("refused", outcome.reason)
        if outcome.kind == "away":
            self._failed += 1
            reason = outcome.reason
            self._fault(
                "away", reason, f"{self.name} takes no calls now ({reason}): they wait, and are sent later"
            )
            return False
        self._failed = self._faults = 0
        if self._queue and self._queue[0] is waiting:
            self._queue.popleft()
        try:
            if outcome.kind == "refused":
                waiting.set_aside()
            else:
                waiting.remove()
        except OSError as error:
            self._last_error = str(error)
        if outcome.kind == "recorded":
            self._recorded += 1
            self._last_error = None
            self._said.discard("away")
            if outcome.warning is not None:
                self._say_once(outcome.warning, outcome.warning)
        else:
            self._refused += 1
            self._fault("refused", outcome.reason, f"a call cannot be recorded: {outcome.reason}")
        self._changed.notify_all()
        return True

    def _take_over(self) -> None:
        try:
            self._queue.extend(self._spool.take_over())
            self._wake()
        except OSError as error:
            self._last_error = str(error)

    def _leave(self) -> None:
        try:
            self._spool.close()
        except OSError:
            pass  # What is in it is sent by the next process all the same.

    def _at_exit(self) -> None:
        if self._exit_timeout > 0 and self._queue and self._failed == 0:
            self.flush(self._exit_timeout)
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._leave()

    def _damaged(self, file: str) -> None:
        self._fault("damaged", f"{file} is damaged", f"a call that waited is damaged, and is not recorded: {file}")

    def _in_memory(self, error: OSError) -> None:
        self._fault(
            "memory",
            str(error),
            f"calls cannot be kept on disk ({error}): they wait in memory, and are lost if the process ends",
        )

    def _not_recorded(self, error: Exception) -> None:
        self._dropped += 1
        self._fault("fault", str(error), f"a call was not recorded: {error}")

    def _fault(self, kind: str, reason: str, sentence: str) -> None:
        self._last_error = reason
        self._say_once(kind, sentence)

    def _say_once(self, kind: str, sentence: str) -> None:
        if kind in self._said:
            return
        self._said.add(kind)
        try:
            self._warn(sentence)
        except Exception:
            pass  # It is the program's own function: nothing of it reaches the agent's call.


def open_call_recorder(
    *,
    url: Optional[str] = None,
    recorder: str = "recorder",
    redact: Rules = None,
    directory: Optional[str] = None,
    limit: int = LIMIT,
    exit_timeout: float = 2.0,
    warn: Optional[Callable[[str], None]] = None,
    times: "tuple[float, float, float]" = TIMES,
    **unknown: Any,
) -> CallRecorder:
    """Opens a recorder of calls. An option that it does not know is ignored, and said once.

    url: the gateway (STEMMA_URL). recorder: the name of the agent. redact: rules by which secrets are taken out before
    anything is written. directory: where calls wait (STEMMA_SPOOL). limit: the most bytes that wait. exit_timeout: seconds
    that a process which is about to end waits for a gateway that answers. warn: told once of each thing that goes wrong.
    """
    say_unknown("open_call_recorder", unknown, warn)
    return CallRecorder(url, recorder, redact, directory, limit, exit_timeout, warn, times)


_opened: "weakref.WeakSet[CallRecorder]" = weakref.WeakSet()


def _end_all() -> None:
    for recorder in list(_opened):
        recorder._at_exit()


def _begin_anew() -> None:
    for recorder in list(_opened):
        recorder._start()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    # The threads of the parent are not in the child, and its files are the parent's.
    os.register_at_fork(after_in_child=_begin_anew)


def _scope_of(history: Optional[str], run: Optional[str]) -> "dict[str, str]":
    """The scope that is given, else that of the environment."""
    if history is not None:
        return {"history": history}
    if run is not None:
        return {"run": run}
    for name in ("history", "run"):
        value = os.environ.get(f"STEMMA_{name.upper()}")
        if value:
            return {name: value}
    return {}


def _without_password(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"


def _state_folder() -> str:
    """Where programs of a user keep what outlives them, on each system."""
    home = os.path.expanduser("~")
    if os.name == "nt":
        return os.path.join(os.environ.get("LOCALAPPDATA") or home, "Stemma")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "Stemma")
    return os.path.join(os.environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state"), "stemma")


_unknown: "set[str]" = set()


def say_unknown(what: str, unknown: "Iterable[str]", warn: Optional[Callable[[str], None]]) -> None:
    """Says once which options nobody reads. It raises nothing."""
    names = ", ".join(name[:100] for name in list(unknown)[:10])
    sentence = f"{what} does not know {names}: nothing reads what stands there"
    if not names or sentence in _unknown:
        return
    if len(_unknown) < 1_000:
        _unknown.add(sentence)
    try:
        (warn or _say)(sentence)
    except Exception:
        pass


def _say(sentence: str) -> None:
    sys.stderr.write(f"stemma: {sentence}\n")
