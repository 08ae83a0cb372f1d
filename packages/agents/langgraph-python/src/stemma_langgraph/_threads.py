"""Threads of graphs in the histories of a gateway."""

import json
import threading
import uuid
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Optional

from ._errors import StemmaError
from ._gateway import Gateway
from ._names import checkpoint_name, history_name, read_checkpoint_name
from ._state import PutPlan, State, next_ordinal, read_state

# The branch that holds what tasks wrote, and positions that say what became of a thread.
WRITES, DELETED, COPIED = "pending-writes", "langgraph.deleted", "langgraph.copied"
_MOST_PLANS = 20
_MOST_STATES = 200
_MOST_WRITTEN = 1_000
_PAGE = 500
# What a put meets that knows less than is recorded.
_BEHIND = {"E_CONFLICT", "E_NAME_TAKEN", "E_HISTORY_ERASED", "E_HISTORY_NOT_FOUND", "E_NODE_NOT_FOUND"}

# (namespace, id)
Key = "tuple[str, str]"


@dataclass(frozen=True)
class Entry:
    """Where a checkpoint is."""

    namespace: str
    id: str
    name: str
    # How often it was put: the last one counts.
    times: int
    branch_id: int
    seq: int


@dataclass(frozen=True)
class Write:
    """What a task wrote to a channel, as it is stored."""

    task: str
    path: str
    index: int
    channel: str
    value: "dict[str, Any]"


@dataclass
class Branch:
    namespace: Optional[str]
    address: str
    tip: int


@dataclass
class Index:
    """What is known of the history of a thread, up to a number of frames."""

    thread: str
    history: str
    writes_branch: str
    frames: int
    branches: "dict[int, Branch]" = field(default_factory=dict)
    checkpoints: "dict[Key, Entry]" = field(default_factory=dict)
    written: "OrderedDict[str, dict[Any, Write]]" = field(default_factory=OrderedDict)
    is_deleted: bool = False
    ordinal: int = 0

    def entry(self, namespace: str, checkpoint_id: Optional[str]) -> Optional[Entry]:
        """The checkpoint with this id, or the newest of the namespace."""
        if checkpoint_id is not None:
            return self.checkpoints.get((namespace, checkpoint_id))
        return max((each for each in self.checkpoints.values() if each.namespace == namespace), key=_id_of, default=None)

    def add(self, entry: Entry) -> None:
        known = self.checkpoints.get((entry.namespace, entry.id))
        if known is None or known.times < entry.times:
            self.checkpoints[(entry.namespace, entry.id)] = entry

    def keep_writes(self, name: str, writes: "dict[Any, Write]") -> None:
        self.written[name] = writes
        while len(self.written) > _MOST_WRITTEN:
            self.written.popitem(last=False)


def _id_of(entry: Entry) -> str:
    return entry.id


def add_writes(known: "dict[Any, Write]", writes: "list[Write]") -> None:
    """
    What a task wrote stays when it writes the same once more, as it does when it runs again; of an error, an interrupt or what it
    was resumed with, the last one counts.
    """
    for write in writes:
        if write.index < 0 or (write.task, write.index) not in known:
            known[(write.task, write.index)] = write


# How a put makes its state: from that of the parent, and from what tasks wrote to it.
MakeState = Callable[[Optional[State], Callable[[], "list[Write]"]], State]


class Threads:
    """What is put is durable when the function returns. Threads of the program wait for each other where they use the same thread."""

    def __init__(self, gateway: Gateway, prefix: str, recorder: str, erasable: bool) -> None:
        self._gateway, self._prefix, self._recorder, self._erasable = gateway, prefix, recorder, erasable
        self._known: "dict[str, Index]" = {}
        self._states: "OrderedDict[tuple[str, str], State]" = OrderedDict()
        self._guard = threading.Lock()
        self._locks: "dict[str, threading.RLock]" = {}

    @contextmanager
    def alone(self, thread: str) -> "Iterator[None]":
        """What is known of a thread stays true meanwhile, unless another process writes."""
        with self._guard:
            lock = self._locks.setdefault(thread, threading.RLock())
        with lock:
            yield

    def find(self, thread: str) -> Optional[Index]:
        """What is known of a thread now; None: there is none."""
        with self.alone(thread):
            known = self._known.get(thread)
            if known is not None:
                now = self._unless(("E_HISTORY_NOT_FOUND", "E_HISTORY_ERASED"), self._gateway.history, known.history)
                if isinstance(now, dict) and now["frames"] == known.frames:
                    return known
                self._known.pop(thread, None)
            index, _ = self._look(thread)
            if index is not None:
                self._known[thread] = index
            return index

    def all(self) -> "list[Index]":
        found = []
        skip = 0
        while True:
            query = {"limit": _PAGE, "skip": skip, **({"name": self._prefix} if self._prefix else {})}
            page = self._gateway.histories(**query)["histories"]
            for summary in page:
                is_own = any(branch["name"] == WRITES for branch in summary["branches"])
                if not is_own or not (summary["name"] or "").startswith(self._prefix):
                    continue
                gone = ("E_HISTORY_NOT_FOUND", "E_HISTORY_ERASED")
                answer = self._unless(gone, self._gateway.branches, summary["history"])
                index = None if isinstance(answer, str) else _read_index(answer)
                if index is not None and not index.is_deleted:
                    found.append(index)
            if len(page) < _PAGE:
                return found
            skip += _PAGE

    def state(self, index: Index, entry: Entry) -> State:
        key = (index.history, entry.name)
        with self._guard:
            found = self._states.get(key)
            if found is not None:
                self._states.move_to_end(key)
                return found
        state = read_state(self._gateway.export(index.history, f"@name:{entry.name}"))
        self._keep(key, state)
        return state

    def writes(self, index: Index, entry: Entry) -> "list[Write]":
        """In the order in which a graph applies them: by the path of the task, the task, and their index."""
        with self.alone(index.thread):
            known = index.written.get(entry.name)
            if known is None:
                known = self._read_writes(index, entry.name)
                index.keep_writes(entry.name, known)
            return sorted(known.values(), key=lambda write: (write.path, write.task, write.index))

    def put(self, thread: str, key: "tuple[str, str]", parent: Optional[str], make: MakeState) -> None:
        with self.alone(thread):
            for plans in range(1, _MOST_PLANS + 1):
                try:
                    return self._put_once(self._open(thread), key, parent, make)
                except StemmaError as error:
                    # Another process put a checkpoint, or deleted the thread.
                    if error.code not in _BEHIND or plans == _MOST_PLANS:
                        raise
                    self._known.pop(thread, None)

    def put_writes(self, thread: str, key: "tuple[str, str]", writes: "list[Write]") -> None:
        with self.alone(thread):
            self._put_writes(self._open(thread), key, writes)

    def remove(self, thread: str) -> None:
        with self.alone(thread):
            while (index := self.find(thread)) is not None:
                self._known.pop(thread, None)
                self._delete(index.history)

    def rewrite(self, source: Index, target: str, entries: "list[Entry]", copied: "Callable[[State], State]") -> None:
        """
        Copies checkpoints, parents first, to a new generation of a thread, which counts when all of them are there. The one that the
        thread was before is deleted.
        """
        with self.alone(target):
            before = self.find(target)
            self._known.pop(target, None)
            generation = 1
            while True:
                # Copies that were not finished.
                history = history_name(self._prefix, target, generation)
                gone = ("E_HISTORY_NOT_FOUND", "E_HISTORY_ERASED")
                found = self._unless(gone, self._gateway.branches, history)
                if found == "E_HISTORY_NOT_FOUND":
                    break
                if isinstance(found, dict) and (before is None or found["history"] != before.history):
                    other = _read_index(found)
                    if other is None:
                        raise StemmaError("E_HISTORY_EXISTS", f"the history {history} is no thread of LangGraph")
                    self._delete(found["history"])
                generation += 1
            index = self._start(target, generation, copy=True)
            for entry in entries:
                state = copied(self.state(source, entry))
                writes = self.writes(source, entry)
                self._put_once(index, (entry.namespace, entry.id), state.parent, lambda _before, _writes: state)
                for write in writes:
                    self._put_writes(index, (entry.namespace, entry.id), [write])
            self._send(index.history, [{"op": "name", "name": COPIED}])
            if before is not None:
                self._delete(before.history)
            self._known.pop(target, None)

    def _keep(self, key: "tuple[str, str]", state: State) -> None:
        with self._guard:
            self._states[key] = state
            while len(self._states) > _MOST_STATES:
                self._states.popitem(last=False)

    def _look(self, thread: str) -> "tuple[Optional[Index], int]":
        """The first generation that was not deleted, and the number of the one that a new thread is."""
        generation = 1
        while True:
            history = history_name(self._prefix, thread, generation)
            found = self._unless(("E_HISTORY_NOT_FOUND", "E_HISTORY_ERASED"), self._gateway.branches, history)
            if found != "E_HISTORY_ERASED":
                index = None if isinstance(found, str) else _read_index(found)
                if index is None or not index.is_deleted:
                    return index, generation
            generation += 1

    def _open(self, thread: str) -> Index:
        known = self._known.get(thread) or self.find(thread)
        if known is None:
            known = self._start(thread, self._look(thread)[1], copy=False)
            self._known[thread] = known
        return known

    def _start(self, thread: str, generation: int, copy: bool) -> Index:
        name = history_name(self._prefix, thread, generation)
        body = {"id": f"langgraph:start:{name}", "recorder": self._recorder, "name": name}
        try:
            self._gateway.start({**body, **({"erasable": {"subject": None}} if self._erasable else {})})
        except StemmaError as error:
            if error.code != "E_HISTORY_EXISTS":
                raise
            message = f"the history {name} is there and no thread of LangGraph"
            raise StemmaError(error.code, message) from error
        note = json.dumps({"thread_id": thread, **({"copy": True} if copy else {})})
        step = {"op": "fork", "name": WRITES, "at": {"branchId": 0, "seq": 0}, "description": note}
        self._gateway.command(name, {"id": "langgraph:writes", "recorder": self._recorder, "steps": [step]})
        made = _read_index(self._gateway.branches(name))
        if made is None:
            raise StemmaError("E_INTERNAL", f"the history {name} was started and is not there")
        return made

    def _put_once(self, index: Index, key: "tuple[str, str]", parent: Optional[str], make: MakeState) -> None:
        namespace, checkpoint_id = key
        entry = None if parent is None else index.checkpoints.get((namespace, parent))
        before = None if entry is None else self.state(index, entry)
        after = make(before, lambda: [] if entry is None else self.writes(index, entry))
        known = index.checkpoints.get(key)
        times = 1 if known is None else known.times + 1
        name = checkpoint_name(namespace, checkpoint_id, times)
        branch_id = self._branch_for(index, entry, namespace)
        branch = index.branches[branch_id]
        plan = PutPlan(before, after, (checkpoint_id, name), max(index.ordinal, next_ordinal(before)))
        try:
            sent = self._send(branch.address, plan.made(branch_id, named=True).steps, branch.tip)
        except StemmaError as error:
            if error.code != "E_NODE_EXISTS":
                raise
            sent = self._send(branch.address, plan.made(branch_id, named=False).steps, branch.tip)
        seq = sent["position"]["seq"]
        state = plan.state_with([event["node"]["id"] for event in sent["events"] if event["type"] == "NodeInserted"])
        branch.tip = seq
        index.ordinal = next_ordinal(state)
        self._keep((index.history, name), state)
        # What its tasks wrote may have come before it.
        if name not in index.written:
            index.keep_writes(name, {})
        index.add(Entry(namespace, checkpoint_id, name, times, branch_id, seq))
        self._count(index, seq)

    def _branch_for(self, index: Index, parent: Optional[Entry], namespace: str) -> int:
        """The branch that a child of a checkpoint goes on: its parent's while nothing follows there, else a new one."""
        if parent is not None and index.branches[parent.branch_id].tip == parent.seq:
            return parent.branch_id
        if parent is None and namespace == "" and index.branches[0].tip == 0:
            return 0
        at = {"branchId": 0, "seq": 0} if parent is None else {"branchId": parent.branch_id, "seq": parent.seq}
        note = json.dumps({"checkpoint_ns": namespace})
        position = self._send(index.history, [{"op": "fork", "at": at, "description": note}])["position"]
        index.branches[position["branchId"]] = Branch(namespace, position["branch"], position["seq"])
        self._count(index, position["seq"])
        return int(position["branchId"])

    def _put_writes(self, index: Index, key: "tuple[str, str]", writes: "list[Write]") -> None:
        entry = index.checkpoints.get(key)
        name = checkpoint_name(*key, 1) if entry is None else entry.name
        node = f"writes:{name}"
        content = {
            "task_id": writes[0].task,
            "task_path": writes[0].path,
            "writes": [{"index": each.index, "channel": each.channel, **each.value} for each in writes],
        }
        insert = {
            "op": "insert",
            "parent": "^sys",
            "node": {"id": node, "nodeType": "cb", "kind": "writes", "content": content},
        }
        replace = {"op": "replace", "id": node, "set": {"content": content}}
        seen = index.written.get(name)
        is_first = entry is None if seen is None else not seen
        first, second = (insert, replace) if is_first else (replace, insert)
        try:
            sent = self._send(index.writes_branch, [first])
            if seen is None and entry is None:
                seen = {}
                index.keep_writes(name, seen)
        except StemmaError as error:
            if error.code not in ("E_NODE_EXISTS", "E_NODE_NOT_FOUND"):
                raise
            # Another process wrote to the checkpoint.
            index.written.pop(name, None)
            seen = None
            sent = self._send(index.writes_branch, [second])
        if seen is not None:
            add_writes(seen, writes)
        self._count(index, sent["position"]["seq"])

    def _read_writes(self, index: Index, name: str) -> "dict[Any, Write]":
        found: "dict[Any, Write]" = {}
        start: Optional[int] = 0
        while start is not None:
            query = {"node": f"writes:{name}", "from": start, "limit": 1_000}
            try:
                page = self._gateway.events(index.history, **query)
            except StemmaError as error:
                if error.code != "E_NODE_NOT_FOUND":
                    raise
                return found
            for each in page["events"]:
                event = each["event"]
                holder = {"NodeInserted": "node", "NodeReplaced": "payload"}.get(event["type"])
                if holder is not None:
                    add_writes(found, _writes_in(event[holder]["content"]))
            start = page["next"]
        return found

    def _delete(self, history: str) -> None:
        step = {"op": "erase"} if self._erasable else {"op": "name", "name": DELETED}
        author = {"actor": self._recorder, "notes": "the thread was deleted"} if self._erasable else {"recorder": self._recorder}
        body = {"id": str(uuid.uuid4()), **author, "steps": [step]}
        self._unless(("E_NAME_TAKEN", "E_HISTORY_ERASED"), self._gateway.command, history, body)

    def _send(self, branch: str, steps: "list[dict[str, Any]]", expected: Optional[int] = None) -> Any:
        body = {"id": str(uuid.uuid4()), "recorder": self._recorder, "steps": steps}
        return self._gateway.command(branch, {**body, **({} if expected is None else {"expected": expected})})

    def _count(self, index: Index, seq: int) -> None:
        """Counts a frame of this saver; another process that wrote in between makes all that is known old."""
        if seq == index.frames:
            index.frames += 1
        else:
            self._known.pop(index.thread, None)

    @staticmethod
    def _unless(codes: "tuple[str, ...]", ask: "Callable[..., Any]", *values: Any) -> Any:
        """What is answered, or the code of the error if it is one of these."""
        try:
            return ask(*values)
        except StemmaError as error:
            if error.code in codes:
                return error.code
            raise


def _writes_in(content: "dict[str, Any]") -> "list[Write]":
    return [
        Write(
            content["task_id"],
            content["task_path"],
            int(each["index"]),
            each["channel"],
            {key: each[key] for key in ("content", "data_type", "data_value") if key in each},
        )
        for each in content["writes"]
    ]


def _note(description: str) -> "dict[str, Any]":
    try:
        note = json.loads(description)
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def _read_index(answer: "dict[str, Any]") -> Optional[Index]:
    """The index of a history; None: it is no thread of LangGraph."""
    branches = answer["branches"]
    writes = next((branch for branch in branches if branch["name"] == WRITES), None)
    note = {} if writes is None else _note(writes["description"])
    if writes is None or not isinstance(note.get("thread_id"), str):
        return None
    index = Index(note["thread_id"], answer["history"], writes["branch"], sum(branch["frames"] for branch in branches))
    names = {saved["name"] for branch in branches for saved in branch["saved"]}
    index.is_deleted = DELETED in names or (note.get("copy") is True and COPIED not in names)
    for branch in branches:
        if branch is writes:
            continue
        namespace = "" if branch["branchId"] == 0 else _note(branch["description"]).get("checkpoint_ns")
        index.branches[branch["branchId"]] = Branch(namespace, branch["branch"], branch["seq"])
        for saved in branch["saved"] if namespace is not None else ():
            read = read_checkpoint_name(saved["name"], namespace)
            if read is not None:
                index.add(Entry(namespace, read[0], saved["name"], read[1], branch["branchId"], saved["seq"]))
    return index
