"""Names of histories and positions: the same that the saver for JavaScript gives."""

import hashlib
import re
import unicodedata
from typing import Optional

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,80}")
_HASHED = re.compile(r"-h[0-9a-f]{16}$")
_TIMES = re.compile(r"[1-9][0-9]{0,8}")
_MOST_ID = 90


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def history_name(prefix: str, thread: str, generation: int) -> str:
    """`langgraph-4711` for the thread `4711`; a thread whose id is no name gets a hash, a later one of the same id its number."""
    if _PLAIN.fullmatch(thread) and not _HASHED.search(thread):
        name = thread
    else:
        shown = unicodedata.normalize("NFC", thread).encode("ascii", "replace").decode()
        name = f"{re.sub('[^A-Za-z0-9_]+', '-', shown)[:40].strip('-') or 'thread'}-h{_hash(thread)}"
    return f"{prefix}{name}" if generation == 1 else f"{prefix}{name}.{generation}"


def checkpoint_name(namespace: str, checkpoint_id: str, times: int) -> str:
    """The id of the checkpoint; with a hash of its namespace, and its number if it was put more than once."""
    escaped = re.sub("[^A-Za-z0-9-]", lambda found: f"_{ord(found.group()):x}_", checkpoint_id)
    if len(escaped) > _MOST_ID:
        raise ValueError(f"the id of a checkpoint has more than {_MOST_ID} characters")
    return ".".join([escaped, *_mark(namespace), *([] if times == 1 else [str(times)])])


def _mark(namespace: str) -> "list[str]":
    return [] if namespace == "" else [f"n{_hash(namespace)}"]


def read_checkpoint_name(name: str, namespace: str) -> "Optional[tuple[str, int]]":
    """The id and the number that a name says; None: it names something else."""
    escaped, *rest = name.split(".")
    mark = _mark(namespace)
    if rest[: len(mark)] != mark:
        return None
    times = rest[len(mark) :] or ["1"]
    if len(times) > 1 or not _TIMES.fullmatch(times[0]):
        return None
    found = re.sub("_([0-9a-f]{1,6})_", lambda code: chr(int(code.group(1), 16)), escaped)
    return found, int(times[0])
