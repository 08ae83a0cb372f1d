// The AI SDK of Vercel, with its providers for OpenAI and Anthropic.
import { anthropic } from '@ai-sdk/anthropic';
import { openai } from '@ai-sdk/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const tools = {
  weather: tool({
    description: 'The weather in a city',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ city, celsius: 21 }),
  }),
};
const models = [openai('gpt-4o'), openai.chat('gpt-4o'), anthropic('claude-sonnet-4-5')];
for (const [i, model] of models.entries()) {
  const { text } = await generateText({ model, prompt: `Hello ${i}` });
  const system = `You know the weather ${i}.`;
  const stream = streamText({
    model,
    system,
    prompt: `The weather in Zürich, ${i}?`,
    tools,
    stopWhen: stepCountIs(3),
  });
  let streamed = '';
  for await (const piece of stream.textStream) streamed += piece;
  console.log(text, streamed);
}
