"""Calls on their way to the server, in files that outlive the process.

The files are those of the recorder for JavaScript: a line `stemma-exchange 1 CHECKSUM LENGTH` and the JSON of the exchange;
the checksum is CRC-32 in hexadecimal. Each sends what processes of the other left.
"""

import os
import re
import time
import zlib
from typing import Callable, Optional

from ._files import Irregular, is_folder, read_regular, write_new
from ._owner import is_abandoned, nobodys_name, own_name

_HEAD = re.compile(rb"^stemma-exchange 1 ([0-9a-f]{8}) (\d{1,12})\n")
_NAME = re.compile(r"^\d+-\d+-(.+?)\.(?:open|exchange)(?:\.refused)?$")
# Bytes of the largest file that is read.
_MOST = 1024 * 1024 * 1024
# Seconds that what others hold is remembered.
_REMEMBERED = 1.0


class Damaged(Exception):
    """A file is cut off or damaged."""


class Waiting:
    """An exchange that waits to be sent."""

    def __init__(self, spool: "DiskSpool", exchange_id: str, path: str, size: int) -> None:
        self.id = exchange_id
        self._spool, self._path, self._size = spool, path, size

    def read(self) -> bytes:
        """The JSON. Raises Damaged, OSError."""
        try:
            return decode(read_regular(self._path, _MOST))
        except Irregular as error:
            raise Damaged(str(error)) from error

    def remove(self) -> None:
        """It was recorded: it needs no more room."""
        self._spool._bytes -= self._size
        _remove(self._path)

    def set_aside(self) -> None:
        """It cannot be recorded now: the next process sends it again."""
        kept = f"{self._path}.refused"
        os.replace(self._path, kept)
        self._spool._aside.append((kept, self._size))


class MemoryWaiting:
    """An exchange that waits in memory, and is lost if the process ends."""

    def __init__(self, spool: "MemorySpool", exchange_id: str, json: bytes) -> None:
        self.id = exchange_id
        self._spool, self._json = spool, json

    def read(self) -> bytes:
        return self._json

    def remove(self) -> None:
        self._spool._bytes -= len(self._json)

    def set_aside(self) -> None:
        self.remove()


class MemorySpool:
    """For who has no disk."""

    directory: Optional[str] = None

    def __init__(self, limit: int) -> None:
        self._limit, self._bytes = limit, 0

    def begin(self, exchange_id: str, json: bytes) -> None:
        pass

    def keep(self, exchange_id: str, json: bytes) -> Optional[MemoryWaiting]:
        if self._bytes + len(json) > self._limit:
            return None
        self._bytes += len(json)
        return MemoryWaiting(self, exchange_id, json)

    def take_over(self) -> list:
        return []

    def close(self) -> None:
        pass


class DiskSpool:
    """A folder for one target. A file is written whole, under another name first: it outlives the process at any moment."""

    def __init__(self, directory: str, limit: int, damaged: Callable[[str], None]) -> None:
        self._all, self._limit, self._damaged = directory, limit, damaged
        self._name = own_name()
        self.directory: Optional[str] = os.path.join(directory, self._name)
        self._own = os.path.join(directory, self._name)
        self._make_folder()
        self._bytes = self._count = self._taken = 0
        self._open: "dict[str, tuple[str, int]]" = {}
        self._aside: "list[tuple[str, int]]" = []
        self._others = (float("-inf"), 0)

    def begin(self, exchange_id: str, json: bytes) -> None:
        """Notes that a call began: if the process ends before the call, the next one sends this. Raises OSError."""
        file = encode(json)
        if not self._has_room(len(file)):
            return
        path = self._path_of(exchange_id) + ".open"
        self._write(path, file)
        self._bytes += len(file)
        self._open[exchange_id] = (path, len(file))

    def keep(self, exchange_id: str, json: bytes) -> Optional[Waiting]:
        """Keeps an exchange before it returns; None: there is no room. Raises OSError."""
        file = encode(json)
        _, begun = self._open.get(exchange_id, ("", 0))
        if not self._has_room(len(file) - begun):
            self._forget(exchange_id)
            return None
        path = self._path_of(exchange_id) + ".exchange"
        self._write(path, file)
        self._bytes += len(file)
        self._forget(exchange_id)
        return Waiting(self, exchange_id, path, len(file))

    def take_over(self) -> "list[Waiting]":
        """What processes that have ended left, the oldest first."""
        found: "list[tuple[str, Waiting]]" = []
        for folder in os.listdir(self._all):
            if not is_abandoned(folder) or not is_folder(os.path.join(self._all, folder)):
                continue
            self._taken += 1
            mine = os.path.join(self._all, f"{self._name}.{self._taken}")
            try:
                os.rename(os.path.join(self._all, folder), mine)
                found += self._found(mine)
            except OSError:
                pass  # Another process was first.
            _remove_empty(mine)
        self._others = (float("-inf"), 0)
        return [waiting for _, waiting in sorted(found, key=lambda each: each[0])]

    def close(self) -> None:
        """Leaves what waits to the next process."""
        for folder in os.listdir(self._all):
            if folder != self._name and not folder.startswith(f"{self._name}."):
                continue
            path = os.path.join(self._all, folder)
            _remove_empty(path)
            try:
                os.rename(path, os.path.join(self._all, nobodys_name()))
            except OSError:
                pass  # Nothing was left in it.

    def _found(self, folder: str) -> "list[tuple[str, Waiting]]":
        found = []
        for file in os.listdir(folder):
            path = os.path.join(folder, file)
            if file.endswith(".tmp"):
                # The process ended while it wrote this one: nobody was told that it is kept.
                _remove(path)
                continue
            size = _size(path)
            self._bytes += size
            match = _NAME.match(file)
            if match is None:
                continue
            waiting = Waiting(self, match.group(1), path, size)
            try:
                waiting.read()
            except Damaged:
                os.replace(path, f"{path}.damaged")
                self._damaged(f"{path}.damaged")
                continue
            except OSError:
                continue  # It is left to the next process.
            found.append((file, waiting))
        return found

    def _has_room(self, size: int) -> bool:
        while self._bytes + size + self._bytes_of_others() > self._limit:
            if not self._aside:
                return False
            # What cannot be recorded makes room for what can.
            path, held = self._aside.pop(0)
            _remove(path)
            self._bytes -= held
        return True

    def _bytes_of_others(self) -> int:
        at, held = self._others
        now = time.monotonic()
        if now - at < _REMEMBERED:
            return held
        held = 0
        for folder in os.listdir(self._all):
            if folder != self._name and not folder.startswith(f"{self._name}."):
                path = os.path.join(self._all, folder)
                held += sum(_size(os.path.join(path, file)) for file in _names(path))
        self._others = (now, held)
        return held

    def _write(self, path: str, file: bytes) -> None:
        temporary = f"{path}.tmp"
        try:
            # The folder may have been taken over by a process that could not see this one.
            self._make_folder()
            write_new(temporary, file)
            os.replace(temporary, path)
        except OSError:
            _remove(temporary)
            raise

    def _forget(self, exchange_id: str) -> None:
        path, size = self._open.pop(exchange_id, (None, 0))
        if path is not None:
            self._bytes -= size
            _remove(path)

    def _path_of(self, exchange_id: str) -> str:
        self._count += 1
        return os.path.join(self._own, f"{int(time.time() * 1000):015d}-{self._count - 1:08d}-{exchange_id}")

    def _make_folder(self) -> None:
        if not os.path.isdir(self._own):
            old = os.umask(0o077)
            try:
                os.makedirs(self._own, mode=0o700, exist_ok=True)
            finally:
                os.umask(old)


def encode(json: bytes) -> bytes:
    """The file of an exchange."""
    return b"stemma-exchange 1 %08x %d\n" % (zlib.crc32(json), len(json)) + json


def decode(file: bytes) -> bytes:
    """The exchange in a file. Raises Damaged."""
    match = _HEAD.match(file)
    if match is None:
        raise Damaged("an exchange that waits to be sent is damaged")
    json = file[match.end() :]
    if len(json) != int(match.group(2)) or b"%08x" % zlib.crc32(json) != match.group(1):
        raise Damaged("an exchange that waits to be sent is damaged")
    return json


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except OSError:
        pass


def _remove_empty(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        pass


def _names(path: str) -> "list[str]":
    try:
        return os.listdir(path)
    except OSError:
        return []


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
