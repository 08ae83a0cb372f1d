"""Messages of LangChain as nodes: the same that an import of them gives."""

import base64
import json
from typing import Any, Optional

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol

from ._values import readable

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
_CALLS = {"tool_use", "function_call", "tool_call", "input_json_delta"}


def stored_message(serde: SerializerProtocol, message: BaseMessage) -> "Optional[tuple[str, bytes]]":
    """What the serializer gives for a message; None: it is a secret, so the message is not shown."""
    kind, data = serde.dumps_typed(message)
    return (kind, data) if kind in ("msgpack", "json") else None


def nodes_of(message: BaseMessage, stored: "tuple[str, bytes]", channel: str, ordinal: int) -> "list[dict[str, Any]]":
    """The nodes of a message. The first holds its bytes too, without those of the text that is its content."""
    pieces, form, fields = _pieces(message)
    nodes = []
    for index, (kind, payload) in enumerate(pieces):
        node = {
            "id": f"m{ordinal}" if index == 0 else f"m{ordinal}:{index}",
            "nodeType": "cb",
            "role": _role(message),
            "kind": kind,
            "offset": 1,
            **payload,
        }
        if index == 0:
            named = {"name": "data_name", "tool_call_id": "data_tool_call_id"}
            rest = {key: value for key, value in fields.items() if key not in named}
            node.update({named[key]: value for key, value in fields.items() if key in named})
            node["data_message"] = {"ordinal": ordinal, "content": form, **({"fields": rest} if rest else {})}
            node["data_channel"] = channel
            node["data_value"] = _around(stored, node.get("content"))
        else:
            node["data_continues"] = ordinal
        nodes.append(node)
    return nodes


def bytes_in(node: "dict[str, Any]") -> "tuple[str, bytes]":
    """What the serializer gave for the message of a first node."""
    value = node["data_value"]
    if "base64" in value:
        return value["type"], base64.b64decode(value["base64"])
    before, after = base64.b64decode(value["before"]), base64.b64decode(value["after"])
    return value["type"], before + node["content"].encode() + after


def _around(stored: "tuple[str, bytes]", content: Any) -> "dict[str, str]":
    kind, data = stored
    if isinstance(content, str) and len(content) > 20:
        inner = content.encode()
        at = data.find(inner)
        if at >= 0:
            before, after = data[:at], data[at + len(inner) :]
            return {"type": kind, "before": _base64(before), "after": _base64(after)}
    return {"type": kind, "base64": _base64(data)}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _role(message: BaseMessage) -> str:
    kind = message.type.removesuffix("MessageChunk").lower()
    role = getattr(message, "role", None) if kind == "chat" else None
    return _ROLES.get(kind) or (role if role in (*_ROLES.values(), "developer") else "user")


_Piece = "tuple[str, dict[str, Any]]"


def _pieces(message: BaseMessage) -> "tuple[list[_Piece], str, dict[str, str]]":
    content = readable(message.content)
    fields: "dict[str, Any]" = {}
    if message.name:
        fields["name"] = readable(message.name)
    if message.type in ("tool", "function"):
        fields["tool_call_id"] = readable(str(getattr(message, "tool_call_id", "")))
        if getattr(message, "status", None) == "error":
            fields["is_error"] = True
        return [("result", {"content": content})], "whole", fields
    calls = [_call(call) for call in getattr(message, "tool_calls", None) or []]
    if isinstance(content, list) and content:
        parts = [_part(part) for part in content if not (calls and _kind(part) in _CALLS)]
        if parts or calls:
            return [*parts, *calls], "parts", fields
    if not calls:
        return [("text", {"content": content})], "whole", fields
    if isinstance(content, list) or content == "":
        return calls, "parts" if isinstance(content, list) else "absent", fields
    return [("text", {"content": content}), *calls], "whole", fields


def _kind(part: Any) -> Any:
    return part.get("type") if isinstance(part, dict) else None


def _part(part: Any) -> _Piece:
    if isinstance(part, str):
        return "text", {"content": part}
    if _kind(part) == "text" and isinstance(part.get("text"), str):
        rest = {key: value for key, value in part.items() if key != "text"}
        return "text", {"content": part["text"], **({"data_part": rest} if len(rest) > 1 else {})}
    return "text", {"content": part}


def _call(call: Any) -> _Piece:
    arguments = json.dumps(readable(call.get("args")), ensure_ascii=False, separators=(",", ":"))
    function = {"name": readable(str(call.get("name"))), "arguments": arguments}
    return "call", {"content": {"function": function, "id": readable(str(call.get("id"))), "type": "function"}}
