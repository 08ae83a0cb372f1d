"""Whose folder of a spool it is.

Each process has a folder of its own and sends what is in it. The name says which process that is: its id, when it began
(on Linux, in ticks since the boot), the boot, and eight digits by chance. What comes after a dot was taken over.
"""

import os
import re
import secrets
from typing import Optional

_OWNER = re.compile(r"^(\d+)-(\d+)-([0-9a-f-]+)-([0-9a-f]{8})(?:\.\d+)?$")


def own_name() -> str:
    """A name for a folder of this process."""
    pid = os.getpid()
    return f"{pid}-{_began_at(pid) or '0'}-{_boot()}-{secrets.token_hex(4)}"


def nobodys_name() -> str:
    """A name for a folder that belongs to nobody."""
    return f"0-0-0-{secrets.token_hex(4)}"


def is_abandoned(name: str) -> bool:
    """True for the folder of a process that has ended."""
    match = _OWNER.match(name)
    if match is None:
        return False
    pid, began, boot, _ = match.groups()
    if pid == "0" or boot != _boot():
        return True
    return not _is_alive(int(pid), None if began == "0" else began)


def _is_alive(pid: int, began: Optional[str]) -> bool:
    now = _began_at(pid)
    if now is not None:
        return began is None or began == now
    if began is not None:
        return False
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _began_at(pid: int) -> Optional[str]:
    """The 22nd field of /proc/PID/stat; None without such a process, or on a system without that file."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            stat = file.read()
    except OSError:
        return None
    return stat[stat.rindex(")") + 2 :].split(" ")[19]


def _boot() -> str:
    """The id of the boot, where the system has one."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="latin-1") as file:
            return file.read().strip()
    except OSError:
        return "0"
