"""The checkpointer."""

import asyncio
import os
from typing import Any, AsyncIterator, Callable, Iterator, Mapping, Optional, Sequence

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import TASKS

from ._gateway import Gateway
from ._state import Channel, Messages, State, channel_of, has_value, unrecorded, value_of, versions_in, with_writes
from ._threads import Entry, Index, Threads, Write
from ._values import dump, load

# What LangGraph writes in the metadata of a checkpoint that has channels of deltas.
_COUNTERS = "counters_since_delta_snapshot"


class StemmaSaver(BaseCheckpointSaver[int]):
    """
    Keeps the threads of graphs in Stemma: each is a history, each checkpoint a snapshot of it, what tasks wrote stands beside.

        graph = builder.compile(checkpointer=StemmaSaver("http://127.0.0.1:7836"))

    The functions of asyncio run in threads. Raises StemmaError: `E_IO` when no gateway answers, after 5 tries;
    `E_HISTORY_EXISTS` if another program has the thread's history.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        prefix: str = "langgraph-",
        recorder: str = "langgraph",
        erasable: bool = False,
        timeout: float = 60.0,
        serde: Optional[SerializerProtocol] = None,
    ) -> None:
        """
        `url`: of the gateway, by default what `STEMMA_URL` says. `prefix`: what the names of histories begin with. `erasable`:
        histories are sealed, and a deleted thread is erased; by default it stays in the record, and only there. `timeout`: of
        one question, in seconds.
        """
        super().__init__(serde=serde)
        address = url or os.environ.get("STEMMA_URL") or "http://127.0.0.1:7836"
        self._threads = Threads(Gateway(address, timeout), prefix, recorder, erasable)

    def get_tuple(self, config: RunnableConfig) -> Optional[CheckpointTuple]:
        thread, namespace = _thread_in(config), _namespace_in(config)
        index = self._threads.find(thread)
        entry = None if index is None else index.entry(namespace, get_checkpoint_id(config))
        return None if index is None or entry is None else self._tuple(index, entry)

    def list(
        self,
        config: Optional[RunnableConfig],
        *,
        filter: "Optional[dict[str, Any]]" = None,
        before: Optional[RunnableConfig] = None,
        limit: Optional[int] = None,
    ) -> Iterator[CheckpointTuple]:
        wanted: "dict[str, Any]" = dict((config or {}).get("configurable", {}))
        indexes = self._threads.all() if "thread_id" not in wanted else [self._threads.find(str(wanted["thread_id"]))]
        end = None if before is None else get_checkpoint_id(before)
        found = [
            (entry, index)
            for index in indexes
            if index is not None
            for entry in [*index.checkpoints.values()]
            if wanted.get("checkpoint_ns") in (None, entry.namespace)
            and wanted.get("checkpoint_id") in (None, entry.id)
            and (end is None or entry.id < end)
        ]
        left = limit
        for entry, index in sorted(found, key=lambda each: each[0].id, reverse=True):
            if left is not None and left <= 0:
                return
            metadata = load(self.serde, self._threads.state(index, entry).metadata) if filter else {}
            if filter and any(metadata.get(key) != value for key, value in filter.items()):
                continue
            left = None if left is None else left - 1
            yield self._tuple(index, entry)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread, namespace, parent_id = _thread_in(config), _namespace_in(config), get_checkpoint_id(config)
        whole = get_checkpoint_metadata(config, metadata)

        def make(parent: Optional[State], writes: "Callable[[], list[Write]]") -> State:
            channels = self._channels(checkpoint, whole, new_versions, (parent, writes))
            rest = dump(self.serde, {**checkpoint, "channel_values": {}})
            return State(rest, dump(self.serde, whole), parent_id, channels)

        self._threads.put(thread, (namespace, checkpoint["id"]), parent_id, make)
        return _config_of(thread, namespace, checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: "Sequence[tuple[str, Any]]",
        task_id: str,
        task_path: str = "",
    ) -> None:
        thread, namespace = _thread_in(config), _namespace_in(config)
        checkpoint_id = config["configurable"]["checkpoint_id"]
        stored = [
            Write(task_id, task_path, WRITES_IDX_MAP.get(channel, index), channel, dump(self.serde, value))
            for index, (channel, value) in enumerate(writes)
        ]
        if stored:
            self._threads.put_writes(thread, (namespace, checkpoint_id), stored)

    def delete_thread(self, thread_id: str) -> None:
        self._threads.remove(str(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        gone = set(run_ids)
        if not gone:
            return
        for index in self._threads.all():
            entries = [*index.checkpoints.values()]
            kept = [entry for entry in entries if self._metadata(index, entry).get("run_id") not in gone]
            if len(kept) < len(entries):
                self._rewrite(index, index.thread, kept)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        index = self._threads.find(str(source_thread_id))
        if index is not None:
            self._rewrite(index, str(target_thread_id), [*index.checkpoints.values()])

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """
        Deletes all checkpoints of threads (`delete`), or all but the newest of each namespace (`keep_latest`); those that a channel
        of deltas is put together from stay too.
        """
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"no such strategy: {strategy}")
        for thread in map(str, thread_ids):
            index = self._threads.find(thread)
            if index is None:
                continue
            if strategy == "delete":
                self.delete_thread(thread)
                continue
            kept: "list[Entry]" = []
            for namespace in {entry.namespace for entry in index.checkpoints.values()}:
                kept += self._needed(index, index.entry(namespace, None))
            if len(kept) < len(index.checkpoints):
                self._rewrite(index, thread, kept)

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> "Mapping[str, Any]":
        index = self._threads.find(_thread_in(config))
        writes: "dict[str, list[list[Any]]]" = {channel: [] for channel in channels}
        seeds: "dict[str, Any]" = {}
        entry = None if index is None else index.entry(_namespace_in(config), get_checkpoint_id(config))
        left = set(channels)
        while index is not None and entry is not None and left:
            parent = self._threads.state(index, entry).parent
            entry = None if parent is None else index.entry(entry.namespace, parent)
            if entry is None:
                break
            state, stored = self._threads.state(index, entry), self._threads.writes(index, entry)
            for channel in [*left]:
                own = [write for write in stored if write.channel == channel]
                writes[channel].append([(write.task, channel, load(self.serde, write.value)) for write in own])
                known = state.channels.get(channel)
                if known is not None and has_value(known):
                    seeds[channel] = value_of(self.serde, known)
                    left.discard(channel)
        return {
            channel: {
                "writes": [write for step in reversed(steps) for write in step],
                **({"seed": seeds[channel]} if channel in seeds else {}),
            }
            for channel, steps in writes.items()
        }

    async def aget_tuple(self, config: RunnableConfig) -> Optional[CheckpointTuple]:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: Optional[RunnableConfig],
        *,
        filter: "Optional[dict[str, Any]]" = None,
        before: Optional[RunnableConfig] = None,
        limit: Optional[int] = None,
    ) -> AsyncIterator[CheckpointTuple]:
        tuples = self.list(config, filter=filter, before=before, limit=limit)
        while (found := await asyncio.to_thread(next, tuples, None)) is not None:
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: "Sequence[tuple[str, Any]]",
        task_id: str,
        task_path: str = "",
    ) -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await asyncio.to_thread(lambda: self.prune(thread_ids, strategy=strategy))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> "Mapping[str, Any]":
        return await asyncio.to_thread(lambda: self.get_delta_channel_history(config=config, channels=channels))

    def _channels(
        self,
        checkpoint: Checkpoint,
        metadata: "Mapping[str, Any]",
        new_versions: ChannelVersions,
        of: "tuple[Optional[State], Callable[[], list[Write]]]",
    ) -> "dict[str, Channel]":
        """
        Of a channel that has no new version the parent's value stays; a copy of another checkpoint (`fork`) brings all of its values.
        """
        parent, writes = of
        versions, before = checkpoint["channel_versions"], versions_in(self.serde, parent)
        old: "dict[str, Channel]" = {} if parent is None else parent.channels
        channels: "dict[str, Channel]" = {}
        for name, value in checkpoint["channel_values"].items():
            kept = old.get(name)
            is_kept = kept is not None and has_value(kept) and name in versions and before.get(name) == versions[name]
            if name in new_versions or (not is_kept and metadata.get("source") == "fork"):
                channels[name] = channel_of(self.serde, value)
            elif is_kept and kept is not None:
                channels[name] = kept
        for name in versions:
            kept = old.get(name)
            if name in channels:
                continue
            if kept is not None and has_value(kept) and name not in new_versions and before.get(name) == versions[name]:
                channels[name] = kept
            elif name not in checkpoint["channel_values"]:
                shown = self._shown(name, kept, _COUNTERS in metadata, writes)
                if shown is not None:
                    channels[name] = shown
        return channels

    def _shown(
        self, name: str, kept: Optional[Channel], has_deltas: bool, writes: "Callable[[], list[Write]]"
    ) -> Optional[Channel]:
        """The messages of a channel of deltas: they follow from the parent's and what its tasks wrote."""
        before = kept if isinstance(kept, Messages) else None
        if not has_deltas and (before is None or before.form == "list"):
            return None
        given = [load(self.serde, write.value) for write in writes() if write.channel == name]
        if before is None and not any(_is_messages(value) for value in given):
            return None
        items = with_writes(self.serde, () if before is None else before.items, given)
        return Messages("shown", items) if items else None

    def _metadata(self, index: Index, entry: Entry) -> "dict[str, Any]":
        return dict(load(self.serde, self._threads.state(index, entry).metadata))

    def _needed(self, index: Index, entry: Optional[Entry]) -> "list[Entry]":
        """A checkpoint, and those before it that its channels of deltas are put together from."""
        found: "list[Entry]" = []
        left: "Optional[set[str]]" = None
        while entry is not None and (left is None or left):
            state = self._threads.state(index, entry)
            found.append(entry)
            if left is None:
                left = set(self._metadata(index, entry).get(_COUNTERS) or ())
            left -= {name for name, channel in state.channels.items() if has_value(channel)}
            entry = None if state.parent is None else index.entry(entry.namespace, state.parent)
        return found

    def _rewrite(self, source: Index, target: str, entries: "list[Entry]") -> None:
        if entries:
            ordered = sorted(entries, key=lambda entry: entry.seq)
            self._threads.rewrite(source, target, ordered, lambda state: unrecorded(self.serde, state))
        else:
            self._threads.remove(target)

    def _tuple(self, index: Index, entry: Entry) -> CheckpointTuple:
        state, writes = self._threads.state(index, entry), self._threads.writes(index, entry)
        checkpoint: Checkpoint = load(self.serde, state.checkpoint)
        checkpoint["channel_values"] = {
            name: value_of(self.serde, channel) for name, channel in state.channels.items() if has_value(channel)
        }
        if checkpoint["v"] < 4 and state.parent is not None:
            self._take_sends(index, checkpoint, index.entry(entry.namespace, state.parent))
        config = _config_of(index.thread, entry.namespace, entry.id)
        parent = None if state.parent is None else _config_of(index.thread, entry.namespace, state.parent)
        pending = [(write.task, write.channel, load(self.serde, write.value)) for write in writes]
        return CheckpointTuple(config, checkpoint, load(self.serde, state.metadata), parent, pending)

    def _take_sends(self, index: Index, checkpoint: Checkpoint, parent: Optional[Entry]) -> None:
        """Graphs before version 4 of checkpoints sent to tasks by writes to the parent: later ones read them from a channel."""
        writes = [] if parent is None else self._threads.writes(index, parent)
        sends = [load(self.serde, write.value) for write in writes if write.channel == TASKS]
        if sends:
            versions = checkpoint["channel_versions"]
            checkpoint["channel_values"][TASKS] = sends
            versions[TASKS] = max(versions.values()) if versions else self.get_next_version(None, None)


def _is_messages(value: Any) -> bool:
    return isinstance(value, BaseMessage) or (
        isinstance(value, list) and len(value) > 0 and all(isinstance(each, BaseMessage) for each in value)
    )


def _thread_in(config: RunnableConfig) -> str:
    return str(config["configurable"]["thread_id"])


def _namespace_in(config: RunnableConfig) -> str:
    return str(config["configurable"].get("checkpoint_ns") or "")


def _config_of(thread: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}
