// The client that Anthropic publishes for JavaScript.
import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic();
const model = 'claude-sonnet-4-5';
const tools = [
  {
    name: 'weather',
    description: 'The weather in a city',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const system = [
  { type: 'text', text: 'You know the weather, everywhere: 天気.', cache_control: { type: 'ephemeral' } },
];
const messages = [
  {
    role: 'user',
    content: [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
      { type: 'text', text: 'Where is this, and what is the weather?' },
    ],
  },
];
const thinking = { type: 'enabled', budget_tokens: 1024 };
for (let stop = 'tool_use'; stop === 'tool_use';) {
  const message = await client.messages.create({
    model,
    max_tokens: 2048,
    system,
    messages,
    tools,
    thinking,
  });
  stop = message.stop_reason;
  messages.push({ role: 'assistant', content: message.content });
  const results = message.content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: '21 °C' }));
  if (results.length > 0) messages.push({ role: 'user', content: results });
}
messages.push({ role: 'user', content: 'Say it again, please.' });
const stream = client.messages.stream({ model, max_tokens: 2048, system, messages, thinking });
const final = await stream.finalMessage();
console.log(final.content.at(-1).text);
