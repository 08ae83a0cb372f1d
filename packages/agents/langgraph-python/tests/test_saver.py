"""Graphs with the saver, against the gateway at `STEMMA_URL`."""

import asyncio
import datetime
import json
import os
import threading
import urllib.request
import uuid
from typing import Any

import pytest
from graph import Delta, Plain, ask, depth_graph
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command
from stemma_langgraph import StemmaError, StemmaSaver

CONFIG: Any = {"configurable": {"thread_id": "depth"}}


@pytest.fixture
def prefix() -> str:
    return f"t{uuid.uuid4().hex[:8]}-"


def get(path: str) -> Any:
    with urllib.request.urlopen(f"{os.environ['STEMMA_URL']}/api/{path}") as answer:
        return json.load(answer)


def said(messages: Any) -> "list[str]":
    return [f"{message.id}: {message.text}" for message in messages]


def steps(graph: Any) -> Any:
    return [
        (each.metadata["source"], each.metadata["step"], each.next, said(each.values.get("messages", [])), each.values.get("budget"))
        for each in graph.get_state_history(CONFIG)
    ]


def other_look() -> Any:
    call = {"name": "depth", "args": {"at": 2}, "id": "call"}
    return {"messages": [AIMessage("I look over there, with a lamp.", id="look1", tool_calls=[call])]}


def played(graph: Any) -> Any:
    graph.invoke(ask("How deep?"), CONFIG)
    stopped = graph.get_state(CONFIG)
    questions = [each.value for task in stopped.tasks for each in task.interrupts]
    graph.invoke(Command(resume="12 m"), CONFIG)
    end = graph.get_state(CONFIG)
    fork = graph.update_state(stopped.config, other_look())
    graph.invoke(None, fork)
    graph.invoke(Command(resume="7 m"), CONFIG)
    again = graph.get_state(end.config)
    copied = graph.update_state(end.config, None, as_node="__copy__")
    return questions, steps(graph), said(end.values["messages"]), said(again.values["messages"]), said(graph.get_state(copied).values["messages"])


@pytest.mark.parametrize("state", [Plain, Delta])
def test_a_graph_is_interrupted_resumed_and_forked_as_in_memory(prefix: str, state: Any) -> None:
    graph = depth_graph(StemmaSaver(prefix=prefix), state)
    questions, *found = played(graph)
    assert questions == [{"question": "May I measure?"}]
    _, *expected = played(depth_graph(InMemorySaver(), state))
    assert found == expected
    # A saver of another process knows the same.
    cold = depth_graph(StemmaSaver(prefix=prefix), state)
    assert [each for each in steps(cold)] == found[0]
    saver, other = StemmaSaver(prefix=prefix), graph.checkpointer
    assert repr(list(saver.list(CONFIG))) == repr(list(other.list(CONFIG)))
    assert cold.get_state(CONFIG).values["seen"] == ["model"]


@pytest.mark.parametrize("state", [Plain, Delta])
def test_messages_and_values_are_nodes(prefix: str, state: Any) -> None:
    graph = depth_graph(StemmaSaver(prefix=prefix), state)
    graph.invoke(ask("How deep is it down there?"), CONFIG)
    graph.invoke(Command(resume="12 m"), CONFIG)
    nodes = [node for node in get(f"histories/{prefix}depth/tree")["nodes"] if node["shape"] == "block"]
    shown = [(node["role"], node["content"]["text"]) for node in nodes if node.get("role") and node["kind"] != "call"]
    assert shown == [
        ("user", "How deep is it down there?"),
        ("assistant", "I look down there, with a lamp."),
        ("tool", "12 m"),
        ("assistant", "The depth is 12 m."),
    ]
    assert [node["content"]["text"] for node in nodes if node.get("key") in ("budget", "seen")] == ['["model"]', "9"]
    names = [saved["name"] for branch in get(f"histories/{prefix}depth/branches")["branches"] for saved in branch["saved"]]
    assert {each.config["configurable"]["checkpoint_id"] for each in graph.get_state_history(CONFIG)} == set(names)


def test_asyncio_does_the_same(prefix: str) -> None:
    async def play() -> Any:
        graph = depth_graph(StemmaSaver(prefix=prefix))
        await graph.ainvoke(ask("How deep?"), CONFIG)
        await graph.ainvoke(Command(resume="12 m"), CONFIG)
        return [each async for each in graph.aget_state_history(CONFIG)]

    states = asyncio.run(play())
    assert said(states[0].values["messages"])[-1] == "answer1: The depth is 12 m."
    assert [each.metadata["step"] for each in states] == [3, 2, 1, 0, -1]


def checkpoint(checkpoint_id: str, values: Any) -> Any:
    versions = {name: 1 for name in values}
    return {"v": 4, "id": checkpoint_id, "ts": "2026-11-29T00:00:00Z", "channel_values": values, "channel_versions": versions, "versions_seen": {}}


META: Any = {"source": "loop", "step": 1, "parents": {}}
ROOT: Any = {"configurable": {"thread_id": "depth", "checkpoint_ns": ""}}


def test_values_come_back_as_they_were(prefix: str) -> None:
    values = {
        "plain": {"text": "long " * 50_000, "number": 2**60, "float": 0.1, "none": None, "empty": []},
        "keys": [1, {2: b"\x00\xff"}],
        "when": datetime.datetime(2026, 11, 29, tzinfo=datetime.timezone.utc),
        "messages": [AIMessage([{"type": "text", "text": "Grüße"}], id="m1", additional_kwargs={"a": [1]}), AIMessage("Yes.")],
        "bytes": b"\x00\xff",
        "": {1, 2},
    }
    where: Any = {"configurable": {"thread_id": "user:7 / Zoë", "checkpoint_ns": "agent:1|tool:2"}}
    config = StemmaSaver(prefix=prefix).put(where, checkpoint("c:1 _", values), META, {name: 1 for name in values})
    found = StemmaSaver(prefix=prefix).get_tuple(where)
    assert found is not None and found.checkpoint["channel_values"] == values
    assert found.config == config


def test_threads_that_put_at_once_lose_nothing(prefix: str) -> None:
    first, second = StemmaSaver(prefix=prefix), StemmaSaver(prefix=prefix)
    root = first.put(ROOT, checkpoint("c0", {}), META, {})

    def work(saver: StemmaSaver, number: int) -> None:
        put = saver.put(root, checkpoint(f"c{number}", {"n": number}), META, {"n": 1})
        saver.put_writes(put, [("n", number)], "task-b")
        second.put_writes(put, [("n", -number)], "task-a")

    threads = [threading.Thread(target=work, args=(saver, n)) for n, saver in enumerate([first, second] * 6, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [each for each in StemmaSaver(prefix=prefix).list(ROOT) if each.checkpoint["id"] != "c0"]
    assert len(found) == 12
    for each in found:
        number = each.checkpoint["channel_values"]["n"]
        assert each.pending_writes == [("task-a", "n", -number), ("task-b", "n", number)]


@pytest.mark.parametrize("erasable", [False, True])
def test_a_deleted_thread_is_gone_and_begins_anew(prefix: str, erasable: bool) -> None:
    own, other = (StemmaSaver(prefix=prefix, erasable=erasable) for _ in range(2))
    own.put(ROOT, checkpoint("c1", {"n": 1}), META, {"n": 1})
    assert other.get_tuple(ROOT) is not None
    own.delete_thread("depth")
    for saver in (own, other):
        assert saver.get_tuple(ROOT) is None
        assert list(saver.list(None)) == []
    other.put(ROOT, checkpoint("c2", {"n": 2}), META, {"n": 1})
    assert [each.checkpoint["channel_values"] for each in own.list(None)] == [{"n": 2}]


def test_a_pruned_thread_of_deltas_goes_on(prefix: str) -> None:
    graph = depth_graph(StemmaSaver(prefix=prefix), Delta)
    graph.invoke(ask("How deep?"), CONFIG)
    graph.invoke(Command(resume="12 m"), CONFIG)
    before = graph.get_state(CONFIG)
    whole = len(list(graph.checkpointer.list(CONFIG)))
    graph.checkpointer.prune(["depth"])
    # What was pruned is in the record, and not in the thread.
    assert 1 <= len(list(graph.checkpointer.list(CONFIG))) < whole
    graph.checkpointer.copy_thread("depth", "copy")
    for saver in (graph.checkpointer, StemmaSaver(prefix=prefix)):
        assert depth_graph(saver, Delta).get_state(CONFIG).values == before.values
        copy: Any = {"configurable": {"thread_id": "copy"}}
        assert depth_graph(saver, Delta).get_state(copy).values == before.values
    depth_graph(graph.checkpointer, Delta, "later-").invoke(ask("And now?"), CONFIG)
    assert len(graph.get_state(CONFIG).tasks[0].interrupts) == 1


class Secret(SerializerProtocol):
    """A serializer whose bytes are a secret."""

    inner = JsonPlusSerializer()

    def dumps_typed(self, obj: Any) -> "tuple[str, bytes]":
        kind, data = self.inner.dumps_typed(obj)
        return f"{kind}+xor", bytes(byte ^ 0x55 for byte in data)

    def loads_typed(self, data: "tuple[str, bytes]") -> Any:
        return self.inner.loads_typed((data[0].removesuffix("+xor"), bytes(byte ^ 0x55 for byte in data[1])))


def test_what_a_serializer_encrypts_is_not_shown(prefix: str) -> None:
    graph = depth_graph(StemmaSaver(prefix=prefix, serde=Secret()))
    graph.invoke(ask("How deep is the secret?"), CONFIG)
    graph.invoke(Command(resume="12 m"), CONFIG)
    assert said(depth_graph(StemmaSaver(prefix=prefix, serde=Secret())).get_state(CONFIG).values["messages"])[0] == "ask How deep is the secret?: How deep is the secret?"
    for branch in get(f"histories/{prefix}depth/branches")["branches"]:
        assert "secret" not in json.dumps(get(f"histories/{branch['branch']}/export"))


def test_without_a_gateway_the_error_names_its_address() -> None:
    with pytest.raises(StemmaError, match="E_IO: the gateway at http://127.0.0.1:9 does not answer") as found:
        StemmaSaver("http://127.0.0.1:9").put(ROOT, checkpoint("c1", {}), META, {})
    assert found.value.code == "E_IO"
