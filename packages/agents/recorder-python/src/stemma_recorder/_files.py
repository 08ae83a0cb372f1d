"""Opens files that may be anything: a pipe that nobody writes to, a folder, a link to a device that never ends."""

import os
import stat

# A pipe would wait for its other end.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# Nothing that is there already is opened, and no link is followed.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class Irregular(OSError):
    """Something else is in the place of a file, or it is too large."""


def read_regular(path: str, most: int) -> bytes:
    """The bytes of a regular file. Raises Irregular, OSError."""
    try:
        # Opening some devices does something.
        _refuse(path, os.stat(path), most)
    except FileNotFoundError as error:
        if not os.path.lexists(path):
            raise
        raise Irregular(f"{path} is a link to what is not there") from error
    descriptor = os.open(path, _READ)
    with os.fdopen(descriptor, "rb") as file:
        size = _refuse(path, os.fstat(descriptor), most)
        return file.read(size)


def write_new(path: str, content: bytes) -> None:
    """Writes a file for its owner alone, which must not be there. Raises OSError."""
    with os.fdopen(os.open(path, _NEW, 0o600), "wb") as file:
        file.write(content)


def is_folder(path: str) -> bool:
    """True for a folder, false for a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _refuse(path: str, found: os.stat_result, most: int) -> int:
    if not stat.S_ISREG(found.st_mode):
        raise Irregular(f"{path} is no regular file")
    if found.st_size > most:
        raise Irregular(f"{path} has {found.st_size} bytes, more than {most}")
    return found.st_size
