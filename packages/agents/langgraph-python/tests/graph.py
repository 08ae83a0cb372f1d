"""A graph that measures a depth when somebody allows it: a model, a tool that interrupts, and the model again."""

import operator
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from langgraph.types import interrupt


class Plain(TypedDict):
    messages: Annotated[list, add_messages]
    budget: int
    seen: Annotated[list, operator.add]


class Delta(TypedDict):
    messages: Annotated[list, DeltaChannel(_messages_delta_reducer, snapshot_frequency=3)]
    budget: int
    seen: Annotated[list, operator.add]


def depth_graph(saver: Any, state: Any = Plain, prefix: str = "") -> Any:
    counts: "dict[str, int]" = {}

    def made(name: str) -> str:
        counts[name] = counts.get(name, 0) + 1
        return f"{prefix}{name}{counts[name]}"

    def model(now: Any) -> Any:
        last = now["messages"][-1]
        if last.type == "tool":
            return {"messages": [AIMessage(f"The depth is {last.content}.", id=made("answer"))]}
        call = {"name": "depth", "args": {"at": 1}, "id": "call"}
        return {"messages": [AIMessage("I look down there, with a lamp.", id=made("look"), tool_calls=[call])], "seen": ["model"]}

    def tools(now: Any) -> Any:
        allowed = interrupt({"question": "May I measure?"})
        message = ToolMessage(allowed, id=made("tool"), tool_call_id="call")
        return {"messages": [message], "budget": now.get("budget", 10) - 1}

    def after_model(now: Any) -> str:
        return "tools" if getattr(now["messages"][-1], "tool_calls", None) else "__end__"

    builder = StateGraph(state)
    builder.add_node("model", model)
    builder.add_node("tools", tools)
    builder.add_edge("__start__", "model")
    builder.add_conditional_edges("model", after_model)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=saver)


def ask(text: str) -> Any:
    return {"messages": [HumanMessage(text, id=f"ask {text}")]}
