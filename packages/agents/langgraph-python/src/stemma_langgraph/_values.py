"""Values of channels as nodes hold them."""

import base64
import json
import math
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol

# Serializers whose bytes are no secret: what they hold may be shown.
_OPEN = {"msgpack", "json", "null", "bytes", "bytearray"}
_SAFE = 2**53


def dump(serde: SerializerProtocol, value: Any) -> "dict[str, Any]":
    """
    The attributes of a node: JSON of a value that JSON gives back as it is; else the bytes that the serializer gives, in
    base64, and what a person reads of them, unless they are encrypted.
    """
    kind, data = serde.dumps_typed(value)
    if kind == "json":
        return {"content": data.decode(), "data_type": kind}
    if kind in _OPEN and is_plain(value):
        return {"content": _json(value), "data_type": "plain"}
    packed = base64.b64encode(data).decode()
    if kind not in _OPEN:
        return {"content": packed, "data_type": kind}
    return {"content": _json(readable(value)), "data_type": kind, "data_value": packed}


def load(serde: SerializerProtocol, node: "dict[str, Any]") -> Any:
    """The value that `dump` was given."""
    kind, content, packed = node["data_type"], node["content"], node.get("data_value")
    if packed is not None:
        return serde.loads_typed((kind, base64.b64decode(packed)))
    if kind == "plain":
        return json.loads(content)
    if kind == "json":
        return serde.loads_typed((kind, content.encode()))
    return serde.loads_typed((kind, base64.b64decode(content)))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def is_plain(value: Any, depth: int = 0) -> bool:
    """True for what JSON gives back as it is: no tuple, no key that is no text, no float that has no digits."""
    kind = type(value)
    if value is None or kind is bool or kind is int:
        return True
    if kind is str:
        return _is_text(value)
    if kind is float:
        return math.isfinite(value)
    if depth > 100:
        return False
    if kind is list:
        return all(is_plain(item, depth + 1) for item in value)
    if kind is dict:
        return all(type(key) is str and _is_text(key) and is_plain(item, depth + 1) for key, item in value.items())
    return False


def _is_text(text: str) -> bool:
    try:
        text.encode()
        return True
    except UnicodeEncodeError:
        return False


def readable(value: Any, depth: int = 0) -> Any:
    """What a person reads of a value, as JSON: of an object its fields, of anything else its text."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if -_SAFE < value < _SAFE else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if depth > 50:
        return "…"
    if isinstance(value, dict):
        return {str(readable(str(key))): readable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [readable(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((readable(item, depth + 1) for item in value), key=repr)
    if isinstance(value, (bytes, bytearray)):
        return {"base64": base64.b64encode(value).decode()}
    fields = getattr(value, "__dict__", None)
    if isinstance(fields, dict) and fields:
        return {key: readable(item, depth + 1) for key, item in fields.items() if not key.startswith("_")}
    return readable(str(value)[:1_000])
