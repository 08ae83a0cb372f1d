// The client that OpenAI publishes for JavaScript.
import OpenAI from 'openai';

const client = new OpenAI();
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const about = { name: 'weather', description: 'The weather in a city', parameters };
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const system = { role: 'developer', content: 'You know the weather, everywhere: 天気.' };
const chat = [system, { role: 'user', content: 'Hello' }];
const plain = await client.chat.completions.create({ model: 'gpt-4o', messages: chat });
chat.push(plain.choices[0].message, {
  role: 'user',
  content: [
    { type: 'text', text: 'What is on this picture?' },
    { type: 'image_url', image_url: { url: PIXEL } },
  ],
});
const stream = await client.chat.completions.create({
  model: 'gpt-4o',
  messages: chat,
  stream: true,
  stream_options: { include_usage: true },
});
let content = '';
for await (const chunk of stream) content += chunk.choices[0]?.delta.content ?? '';
chat.push({ role: 'assistant', content }, { role: 'user', content: 'And the weather?' });
const tools = [{ type: 'function', function: about }];
for (let hasCalls = true; hasCalls;) {
  const { choices } = await client.chat.completions.create({ model: 'gpt-4o', messages: chat, tools });
  const [{ message }] = choices;
  chat.push(message);
  for (const call of message.tool_calls ?? [])
    chat.push({ role: 'tool', tool_call_id: call.id, content: '{"celsius":21}' });
  hasCalls = (message.tool_calls ?? []).length > 0;
}

const input = [
  {
    role: 'user',
    content: [
      { type: 'input_text', text: 'Where is this, and what is the weather?' },
      { type: 'input_image', image_url: PIXEL, detail: 'auto' },
    ],
  },
];
const flat = [{ type: 'function', ...about, strict: false }];
const reasoning = { effort: 'low', summary: 'auto' };
const first = await client.responses.create({ model: 'o4-mini', input, tools: flat, reasoning });
input.push(...first.output);
for (const item of first.output)
  if (item.type === 'function_call')
    input.push({ type: 'function_call_output', call_id: item.call_id, output: '{"celsius":21}' });
const events = await client.responses.create({
  model: 'o4-mini',
  input,
  tools: flat,
  reasoning,
  stream: true,
});
for await (const event of events) if (event.type === 'response.completed') console.log(event.response.status);
console.log(chat.at(-1).content);
