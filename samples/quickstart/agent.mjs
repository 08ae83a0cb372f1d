// An agent that mends fare.mjs: it asks a model what to do, and does it, until the model calls no tool any more.
// It knows nothing of Stemma. It needs OPENAI_BASE_URL, which `stemma record` and `stemma rerun` set.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const FILES = ['TASK.md', 'fare.mjs', 'fare.test.mjs'];
const known = (name) => {
  if (!FILES.includes(name)) throw new Error(`there is no file ${name}`);
  return name;
};

const tools = {
  read_file: ({ name }) => readFileSync(known(name), 'utf8'),
  write_file: ({ name, text }) => {
    writeFileSync(known(name), text);
    return 'written';
  },
  run_test: () => spawnSync(process.execPath, ['fare.test.mjs'], { encoding: 'utf8' }).stdout.trim(),
};

const parameters = (...names) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
});
const offered = [
  ['read_file', 'Gives the text of a file.', ['name']],
  ['write_file', 'Replaces the text of a file.', ['name', 'text']],
  ['run_test', 'Runs the test, and gives what it says.', []],
].map(([name, description, names]) => ({
  type: 'function',
  function: { name, description, parameters: parameters(...names) },
}));

const ask = async (messages) => {
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${process.env.OPENAI_API_KEY ?? 'none'}`,
    },
    body: JSON.stringify({ model: 'scripted-1', messages, tools: offered }),
  });
  if (!response.ok) throw new Error(`the model says ${response.status}`);
  const { choices } = await response.json();
  return choices[0].message;
};

const messages = [
  { role: 'system', content: `You mend small programs. It is ${new Date().toISOString()}.` },
  { role: 'user', content: 'Mend fare.mjs: its test fails.' },
];
try {
  for (let turn = 0; turn < 10; turn++) {
    const answer = await ask(messages);
    messages.push(answer);
    if (answer.tool_calls === undefined) {
      console.log(`agent: ${answer.content}`);
      break;
    }
    for (const call of answer.tool_calls) {
      const given = JSON.parse(call.function.arguments);
      console.log(`agent: ${call.function.name} ${given.name ?? ''}`.trimEnd());
      messages.push({ role: 'tool', tool_call_id: call.id, content: tools[call.function.name](given) });
    }
  }
} catch ({ message }) {
  console.log(`agent: ${message}`);
  process.exitCode = 1;
}
