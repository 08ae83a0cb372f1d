// LangChain and LangGraph for JavaScript.
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';

const weather = tool(async ({ city }) => `21 °C in ${city}`, {
  name: 'weather',
  description: 'The weather in a city',
  schema: z.object({ city: z.string() }),
});

const models = [
  new ChatOpenAI({ model: 'gpt-4o' }),
  new ChatOpenAI({ model: 'gpt-4o', useResponsesApi: true }),
  new ChatAnthropic({ model: 'claude-sonnet-4-5' }),
];
for (const [i, model] of models.entries()) {
  // One call whole, one as a stream.
  const asked = [new SystemMessage(`You are brief ${i}.`), new HumanMessage(`Hello ${i}`)];
  const said = await model.invoke(asked);
  let streamed = '';
  for await (const piece of await model.stream([...asked, said, new HumanMessage('Again?')]))
    streamed += piece.text;
  // A graph of one's own, and the agent that comes with LangGraph.
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({
      messages: [await model.bindTools([weather]).invoke(messages)],
    }))
    .addNode('tools', new ToolNode([weather]))
    .addEdge('__start__', 'model')
    .addConditionalEdges('model', ({ messages }) =>
      messages.at(-1).tool_calls.length > 0 ? 'tools' : '__end__',
    )
    .addEdge('tools', 'model')
    .compile();
  const walked = await graph.invoke({ messages: [new HumanMessage(`The weather in Zürich, ${i}?`)] });
  const agent = createReactAgent({ llm: model, tools: [weather] });
  const ran = await agent.invoke({ messages: [new HumanMessage(`And in Genf, ${i}?`)] });
  console.log(streamed, walked.messages.at(-1).text, ran.messages.at(-1).text);
}
