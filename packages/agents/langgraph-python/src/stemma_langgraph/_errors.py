"""What a gateway answers that it does not do."""

from typing import Any


class StemmaError(Exception):
    """An error with a stable code: `E_IO` when no gateway answers, else what the gateway says."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


def error_of(status: int, body: Any) -> StemmaError:
    """The error in the answer of a gateway."""
    said = body.get("error") if isinstance(body, dict) else None
    if isinstance(said, dict) and isinstance(said.get("code"), str):
        return StemmaError(said["code"], str(said.get("message", "")))
    return StemmaError("E_INTERNAL", f"the server answered {status} without an error of Stemma")
