"""A call in the words of the gateway's contract."""

import base64
import json
import re
from typing import Any, Callable, Iterable, Optional, Union

# The most bytes of a body that are kept.
MOST = 40 * 1024 * 1024

Redact = Optional[Callable[[str], str]]
Rules = Union[Callable[[str], str], Iterable["dict[str, str]"], None]

_ENDINGS = ("/chat/completions", "/responses", "/messages")
_ASSISTANTS = re.compile(r"/threads/thread_[^/]*/messages$")


def is_call(method: str, path: str) -> bool:
    """True for a request of an API that Stemma reads."""
    plain = path[:-1] if path.endswith("/") else path
    return method.upper() == "POST" and plain.endswith(_ENDINGS) and _ASSISTANTS.search(plain) is None


def redact_of(rules: Rules) -> Redact:
    """What takes secrets out of a text: a function, or `{"name", "pattern"}` in order. Raises for what cannot be read."""
    if rules is None or callable(rules):
        return rules
    compiled = [(re.compile(each["pattern"]), f"[redacted:{each['name']}]") for each in rules]

    def redact(text: str) -> str:
        for pattern, placeholder in compiled:
            text = pattern.sub(lambda found: _replaced(found, placeholder), text)
        return text

    return redact


def _replaced(found: "re.Match[str]", placeholder: str) -> str:
    """What group 1 matches is the secret, else the whole match."""
    if found.re.groups == 0 or found.group(1) is None:
        return placeholder
    whole, start = found.group(0), found.start(0)
    return whole[: found.start(1) - start] + placeholder + whole[found.end(1) - start :]


def body_of(body: Optional[bytes], redact: Redact) -> "Optional[dict[str, str]]":
    """The bytes as text, if they are UTF-8, or as base64; None: they are not kept."""
    if body is None or len(body) > MOST:
        return None
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        # Nobody can say what secrets are in it.
        return None if redact is not None else {"base64": base64.b64encode(body).decode("ascii")}
    return {"text": text if redact is None else redact(text)}


def said_of(value: Any, redact: Redact) -> Any:
    """A value as JSON has it now, whatever becomes of it. Raises for what has none."""
    text = json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False)
    return json.loads(text if redact is None else redact(text))


def _plain(value: Any) -> Any:
    """Messages are often objects of the client's own."""
    for name in ("model_dump", "to_dict", "dict"):
        method = getattr(value, name, None)
        if callable(method):
            try:
                return method(exclude_none=True) if name == "model_dump" else method()
            except TypeError:
                continue
    raise TypeError(f"{type(value).__name__} is nothing that JSON has")


def without_bodies(body: bytes) -> bytes:
    """The exchange without the bytes, for a gateway that takes no request of this size."""
    exchange = json.loads(body)
    for part in (exchange["request"], (exchange.get("end") or {}).get("response")):
        if part is not None and part["form"] == "wire":
            part["body"] = None
        elif part is not None and "messages" in part:
            part.update(messages=[], tools=None)
    return dump(exchange)


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")
