"""LangChain and LangGraph for Python."""
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


@tool
def weather(city: str) -> str:
    """The weather in a city"""
    return f"21 °C in {city}"


def graph_of(model):
    """A model that calls tools until it does not."""
    bound = model.bind_tools([weather])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([weather]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


models = [ChatOpenAI(model="gpt-4o"), ChatOpenAI(model="gpt-4o", use_responses_api=True)]
for i, model in enumerate(models):
    # One call whole, one as a stream.
    asked = [SystemMessage(f"You are brief {i}."), HumanMessage(f"Hello {i}")]
    said = model.invoke(asked)
    pieces = list(model.stream([*asked, said, HumanMessage("Again?")]))
    walked = graph_of(model).invoke({"messages": [HumanMessage(f"The weather in Zürich, {i}?")]})
    print(len(pieces) > 0, walked["messages"][-1].content)
