"""The state of a graph at a checkpoint, as its history holds it."""

from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, Optional, Union

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from ._errors import StemmaError
from ._messages import bytes_in, nodes_of, stored_message
from ._values import dump, load

Attributes = "dict[str, Any]"


@dataclass(frozen=True)
class Value:
    """A value, as the attributes of a node; None: the channel had one before, and its node is there."""

    attributes: "Optional[dict[str, Any]]"
    node: Optional[str] = None


@dataclass(frozen=True)
class Item:
    """A message: what the serializer gave for it, and the nodes that show it; none: they are not recorded yet."""

    stored: "tuple[str, bytes]"
    message: Optional[BaseMessage] = None
    nodes: "tuple[str, ...]" = ()
    ordinal: int = -1


@dataclass(frozen=True)
class Messages:
    """
    Messages one by one. `form`: the value is a `list` of them, or the copy of a channel of deltas (`delta`), or they are only
    `shown`, as they follow from what tasks wrote.
    """

    form: str
    items: "tuple[Item, ...]"


Channel = Union[Value, Messages]


@dataclass(frozen=True)
class State:
    checkpoint: "dict[str, Any]"
    metadata: "dict[str, Any]"
    parent: Optional[str]
    channels: "dict[str, Channel]" = field(default_factory=dict)
    # The node that says all of this but the channels; None: the branch has none yet.
    node: Optional[str] = None


def channel_of(serde: SerializerProtocol, value: Any) -> Channel:
    """A channel that has a value: of messages, if it is a list of them that may be shown."""
    form, inner = ("delta", value.value) if isinstance(value, _DeltaSnapshot) else ("list", value)
    if type(inner) is list and inner and all(isinstance(each, BaseMessage) for each in inner):
        items = [(stored_message(serde, each), each) for each in inner]
        if all(stored is not None for stored, _ in items):
            return Messages(form, tuple(Item(stored, each) for stored, each in items if stored is not None))
    return Value(dump(serde, value))


def has_value(channel: Optional[Channel]) -> bool:
    return channel.form != "shown" if isinstance(channel, Messages) else channel is not None and channel.attributes is not None


def value_of(serde: SerializerProtocol, channel: Channel) -> Any:
    """The value of a channel that has one."""
    if isinstance(channel, Value):
        return load(serde, channel.attributes or {})
    messages = [serde.loads_typed(item.stored) for item in channel.items]
    return _DeltaSnapshot(messages) if channel.form == "delta" else messages


def unrecorded(serde: SerializerProtocol, state: State) -> State:
    """The same state for another history, which has none of its nodes."""
    channels: "dict[str, Channel]" = {}
    for name, channel in state.channels.items():
        if isinstance(channel, Messages):
            items = (Item(item.stored, item.message or serde.loads_typed(item.stored)) for item in channel.items)
            channels[name] = Messages(channel.form, tuple(items))
        elif channel.attributes is not None:
            channels[name] = Value(channel.attributes)
    return State(state.checkpoint, state.metadata, state.parent, channels)


def versions_in(serde: SerializerProtocol, state: Optional[State]) -> "dict[str, Any]":
    return {} if state is None else dict(load(serde, state.checkpoint)["channel_versions"])


def with_writes(serde: SerializerProtocol, items: "tuple[Item, ...]", writes: Iterable[Any]) -> "tuple[Item, ...]":
    """
    The messages of a channel of deltas when a step has ended: what its tasks wrote is added, a message with the id of another one
    takes its position, `RemoveMessage` removes one, and `Overwrite` all.
    """
    state: "list[tuple[Optional[str], Item]]" = []
    for item in items:
        message = item.message or serde.loads_typed(item.stored)
        state.append((message.id, Item(item.stored, message)))
    for write in writes:
        over = write.get("__overwrite__") if isinstance(write, dict) else getattr(write, "value", None)
        if over is not None and not isinstance(write, BaseMessage):
            state, write = [], over
        for message in write if isinstance(write, (list, tuple)) else [write]:
            if isinstance(message, RemoveMessage):
                state = [] if message.id == "__remove_all__" else [each for each in state if each[0] != message.id]
            elif isinstance(message, BaseMessage):
                stored = stored_message(serde, message)
                if stored is None:
                    return ()
                entry = (message.id, Item(stored, message))
                at = next((i for i, (known, _) in enumerate(state) if known is not None and known == message.id), None)
                if at is None:
                    state.append(entry)
                else:
                    state[at] = entry
    return tuple(item for _, item in state)


def read_state(exported: Any) -> State:
    """The state that the export of a tree holds."""
    values: "dict[str, Value]" = {}
    found: "dict[str, list[Item]]" = {}
    checkpoint: "Optional[dict[str, Any]]" = None
    open_message: "Optional[tuple[str, int]]" = None
    for node in _blocks(exported["root"]):
        channel = node.get("data_channel")
        if node.get("kind") == "checkpoint":
            checkpoint = node
        elif channel is None:
            if open_message is not None and node.get("data_continues") == open_message[1]:
                items = found[open_message[0]]
                items[-1] = Item(items[-1].stored, None, (*items[-1].nodes, node["id"]), items[-1].ordinal)
        elif node.get("kind") == "channel":
            values[channel] = Value(None if node.get("data_type") is None else _attributes(node), node["id"])
        else:
            ordinal = int(node["data_message"]["ordinal"])
            found.setdefault(channel, []).append(Item(bytes_in(node), None, (node["id"],), ordinal))
            open_message = (channel, ordinal)
    if checkpoint is None:
        raise StemmaError("E_INPUT_SHAPE", "the position holds no checkpoint of LangGraph")
    channels: "dict[str, Channel]" = {}
    for entry in checkpoint["data_channels"]:
        name = entry["name"]
        if "form" in entry:
            channels[name] = Messages(entry["form"], tuple(found.get(name, ())))
        elif name in values:
            channels[name] = values[name]
    for name, value in values.items():
        channels.setdefault(name, value)
    return State(
        checkpoint["data_checkpoint"], _attributes(checkpoint), checkpoint["data_parent"], channels, checkpoint["id"]
    )


def _attributes(node: "dict[str, Any]") -> "dict[str, Any]":
    return {key: node[key] for key in ("content", "data_type", "data_value") if node.get(key) is not None}


def _blocks(node: "dict[str, Any]") -> "Iterator[dict[str, Any]]":
    children = node.get("children")
    if children is None:
        yield node
    for child in children or ():
        yield from _blocks(child)


class PutPlan:
    """
    The steps from the state of a parent to that of its child: values are replaced where they differ; messages that the list still
    begins with stay, others are removed, and the rest is inserted at the end.
    """

    def __init__(self, before: Optional[State], after: State, identity: "tuple[str, str]", ordinal: int) -> None:
        self._before, self._after, self._ordinal = before, after, ordinal
        self._id, self._name = identity
        self.steps: "list[dict[str, Any]]" = []
        self._inserts = 0

    def made(self, branch_id: int, named: bool) -> "PutPlan":
        """
        With the steps. `named`: nodes get ids that people can read, with the number of the branch unless it is the first; else the
        server makes them.
        """
        self.steps, self._inserts = [], 0
        self._suffix, self._named = "" if branch_id == 0 else f".{branch_id}", named
        old = {} if self._before is None else self._before.channels
        new = dict(self._after.channels)
        for name, was in old.items():
            if isinstance(was, Value) and name not in new:
                new[name] = Value(None)
        kept = {name: _kept(old.get(name), channel) for name, channel in new.items()}
        self._remove(old, new, kept)
        ordinal = self._ordinal
        self._made: "dict[str, Any]" = {}
        for name, channel in new.items():
            if isinstance(channel, Value):
                self._made[name] = self._value(name, channel, old.get(name))
                continue
            came = []
            for item in channel.items[len(kept[name]) :]:
                if item.message is None:
                    raise AssertionError("a message that is inserted is there")
                nodes = nodes_of(item.message, item.stored, name, ordinal)
                came.append((item.stored, [self._insert("^ah", node) for node in nodes], ordinal))
                ordinal += 1
            self._made[name] = (channel.form, kept[name], came)
        self._checkpoint()
        self.steps += [{"op": "commit"}, {"op": "name", "name": self._name}]
        return self

    def state_with(self, inserted: "list[str]") -> State:
        """The state behind the put, once it is known which ids the inserted nodes have."""
        channels: "dict[str, Channel]" = {}
        for name, made in self._made.items():
            if isinstance(made, Value):
                channels[name] = made
            elif isinstance(made[0], int):
                channels[name] = Value(made[1], inserted[made[0]])
            else:
                form, kept, came = made
                items = [Item(stored, None, tuple(inserted[at] for at in nodes), at) for stored, nodes, at in came]
                channels[name] = Messages(form, (*kept, *items))
        known = self._node if isinstance(self._node, str) else inserted[self._node]
        return State(self._after.checkpoint, self._after.metadata, self._after.parent, channels, known)

    def _insert(self, parent: str, node: "dict[str, Any]") -> int:
        own = node.pop("id", None)
        given = {"id": f"{own}{self._suffix}"} if self._named and own is not None else {}
        self.steps.append({"op": "insert", "parent": parent, "node": {**given, "nodeType": "cb", **node}})
        self._inserts += 1
        return self._inserts - 1

    def _remove(self, old: "dict[str, Channel]", new: "dict[str, Channel]", kept: "dict[str, Any]") -> None:
        for name, was in old.items():
            if isinstance(was, Value):
                gone = [was.node] if was.node is not None and isinstance(new.get(name), Messages) else []
            else:
                stays = {id(item) for item in kept.get(name, ())}
                gone = [node for item in was.items if id(item) not in stays for node in item.nodes]
            self.steps += [{"op": "remove", "id": node} for node in gone]

    def _value(self, name: str, channel: Value, was: Optional[Channel]) -> Any:
        content = {"content": None, "data_type": None, **(channel.attributes or {})}
        if isinstance(was, Value) and was.node is not None:
            if channel.attributes != was.attributes:
                packed = "data_value" in (was.attributes or {}) and "data_value" not in content
                self.steps.append(
                    {"op": "replace", "id": was.node, "set": {**content, **({"data_value": None} if packed else {})}}
                )
            return Value(channel.attributes, was.node)
        node = {"id": f"channel:{name}"[:100], "kind": "channel", "key": name, "data_channel": name, **content}
        return self._insert("^sys", node), channel.attributes

    def _checkpoint(self) -> None:
        after = self._after
        listed = [
            {"name": name, **({"form": channel.form} if isinstance(channel, Messages) else {})}
            for name, channel in after.channels.items()
            if isinstance(channel, Messages) or channel.attributes is not None
        ]
        attributes = {
            "data_value": None,
            **after.metadata,
            "data_checkpoint": after.checkpoint,
            "data_id": self._id,
            "data_parent": after.parent,
            "data_channels": listed,
        }
        known = None if self._before is None else self._before.node
        self._node: "Union[str, int]"
        if known is None:
            self._node = self._insert("^sys", {"id": "checkpoint", "kind": "checkpoint", **attributes})
        else:
            self._node = known
            self.steps.append({"op": "replace", "id": known, "set": attributes})


def _kept(was: Optional[Channel], now: Channel) -> "tuple[Item, ...]":
    """The messages of the parent that stay: those that the list begins with, in the same order."""
    if not isinstance(was, Messages) or not isinstance(now, Messages):
        return ()
    kept: "list[Item]" = []
    for item in was.items:
        if len(kept) < len(now.items) and item.stored == now.items[len(kept)].stored:
            kept.append(item)
    return tuple(kept)


def next_ordinal(state: Optional[State]) -> int:
    ordinals = [
        item.ordinal
        for channel in (state.channels.values() if state is not None else ())
        if isinstance(channel, Messages)
        for item in channel.items
    ]
    return max(ordinals, default=-1) + 1
