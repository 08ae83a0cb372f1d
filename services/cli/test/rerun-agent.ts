import { programFile } from '@stemma/test-kit';
import { openHome, type Home } from '@stemma/home';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProvider, type ScriptedProvider } from './clients/scripted-provider.ts';

/**
 * An agent that knows nothing of Stemma: it asks for the weather, calls a tool for it, and asks once more. API and STREAM say how it
 * asks, PROMPT, QUESTION and RESULT what, and WORKER has it say its process; it prints what it was answered last. With STUCK it writes
 * its process and the one that started it to that file, and does nothing more when it was answered twice.
 */
const AGENT = `
import { writeFileSync } from 'node:fs';
const env = process.env;
let answers = 0;
const noteProcesses = () => writeFileSync(env.STUCK, [process.pid, process.ppid, answers].join(' '));
if (env.STUCK) noteProcesses();
const api = env.API ?? 'chat';
const stream = env.STREAM === '1';
const prompt = (env.PROMPT ?? 'You know the weather.') + (env.WORKER ? ' Worker ' + process.pid + ' asks.' : '');
const schema = { type: 'object', properties: { city: { type: 'string' } } };
const base = api === 'messages' ? env.ANTHROPIC_BASE_URL + '/v1' : env.OPENAI_BASE_URL;
const path = { chat: '/chat/completions', responses: '/responses', messages: '/messages' }[api];
const bodies = {
  chat: (list) => ({
    messages: [{ role: 'system', content: prompt }, ...list],
    tools: [{ type: 'function', function: { name: 'weather', parameters: schema } }],
  }),
  responses: (list) => ({
    instructions: prompt, input: list, tools: [{ type: 'function', name: 'weather', parameters: schema }],
  }),
  messages: (list) => ({
    system: prompt, messages: list, max_tokens: 100, tools: [{ name: 'weather', input_schema: schema }],
  }),
};
const eventsOf = (text) =>
  text.split('\\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)));
/** What an answer adds to the list, its text, and the calls of tools in it. */
const readers = {
  chat: (body) => {
    const { role, content, tool_calls } = body.choices[0].message;
    const calls = (tool_calls ?? []).map((call) => ({ id: call.id, args: call.function.arguments }));
    return { items: [{ role, content, ...(tool_calls && { tool_calls }) }], text: content ?? '', asks: calls };
  },
  responses: (body) => ({
    items: body.output,
    text: body.output.flatMap((item) => item.content ?? []).map((part) => part.text).join(''),
    asks: body.output.filter((item) => item.type === 'function_call').map((item) => ({ id: item.call_id, args: item.arguments })),
  }),
  messages: (body) => ({
    items: [{ role: 'assistant', content: body.content }],
    text: body.content.map((block) => block.text ?? '').join(''),
    asks: body.content.filter((block) => block.type === 'tool_use').map((block) => ({ id: block.id, args: block.input })),
  }),
};
/** The whole body that the events of a stream amount to. */
const gathered = {
  chat: (events) => {
    let content = '';
    const calls = [];
    for (const { choices } of events)
      for (const { delta } of choices) {
        content += delta.content ?? '';
        for (const { index, ...call } of delta.tool_calls ?? []) {
          if (calls[index] === undefined) calls[index] = { id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } };
          calls[index].function.arguments += call.function.arguments ?? '';
        }
      }
    return { choices: [{ message: { role: 'assistant', content: calls.length > 0 && content === '' ? null : content, ...(calls.length > 0 && { tool_calls: calls }) } }] };
  },
  responses: (events) => events.find(({ type }) => type === 'response.completed').response,
  messages: (events) => {
    const content = [];
    const inputs = [];
    for (const { type, index, content_block, delta } of events) {
      if (type === 'content_block_start') [content[index], inputs[index]] = [content_block, ''];
      if (type !== 'content_block_delta') continue;
      if (delta.text !== undefined) content[index].text += delta.text;
      inputs[index] += delta.partial_json ?? '';
    }
    content.forEach((block, i) => { if (block.type === 'tool_use') block.input = JSON.parse(inputs[i] || '{}'); });
    return { content };
  },
};
const resultOf = {
  chat: (call, output) => ({ role: 'tool', tool_call_id: call.id, content: output }),
  responses: (call, output) => ({ type: 'function_call_output', call_id: call.id, output }),
  messages: (call, output) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: output }] }),
};
const ask = async (list) => {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer of-the-agent', 'x-api-key': 'of-the-agent' },
    body: JSON.stringify({ model: env.MODEL ?? 'm', stream, ...bodies[api](list) }),
  });
  if (response.status !== 200) {
    console.log('HTTP ' + response.status + ' ' + response.headers.get('x-should-retry'));
    console.error(await response.text());
    process.exit(1);
  }
  const read = readers[api](stream ? gathered[api](eventsOf(await response.text())) : await response.json());
  if (env.STUCK && ++answers === 2) {
    noteProcesses();
    await new Promise(() => setInterval(() => {}, 1_000));
  }
  return read;
};
const list = [];
let said;
for (const question of [env.QUESTION ?? 'How is the weather in Zürich?', 'And tomorrow?']) {
  list.push({ role: 'user', content: question });
  for (;;) {
    said = await ask(list);
    list.push(...said.items);
    if (said.asks.length === 0) break;
    for (const call of said.asks) list.push(resultOf[api](call, env.RESULT ?? '21 degrees'));
  }
}
console.log(said.text);
`;

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** The report of `stemma rerun --json`. */
export type Report = { readonly [name: string]: unknown } & {
  readonly calls: readonly { readonly [name: string]: unknown }[];
};

/** A folder with the agent, a provider that it asks, and homes in which it is recorded. */
export const openRerunBench = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-rerun-'));
  const provider: ScriptedProvider = await startProvider();
  writeFileSync(join(directory, 'agent.mjs'), AGENT);
  const command = [process.execPath, join(directory, 'agent.mjs')];
  const run = (home: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> =>
    new Promise((resolve) => {
      const { OPENAI_BASE_URL: _openai, ANTHROPIC_BASE_URL: _anthropic, ...own } = process.env;
      execFile(
        process.execPath,
        [programFile('stemma'), ...args],
        {
          maxBuffer: 64 * 1024 * 1024,
          env: {
            ...own,
            STEMMA_HOME: join(directory, home),
            STEMMA_ACTOR: 'ada',
            STEMMA_UPSTREAM_OPENAI: `${provider.url}/v1`,
            STEMMA_UPSTREAM_ANTHROPIC: provider.url,
            OPENAI_API_KEY: 'of-the-environment',
            ANTHROPIC_API_KEY: 'of-the-environment',
            ...env,
          },
        },
        (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  const inHome = async <T>(home: string, look: (opened: Home) => Promise<T>): Promise<T> => {
    const opened = await openHome({ directory: join(directory, home) });
    try {
      return await look(opened);
    } finally {
      await opened.close();
    }
  };
  /** The history that was recorded in a home. */
  const recorded = new Map<string, string>();
  return {
    directory,
    provider,
    command,
    run,
    /** Records the agent in a home of its own. @returns the history */
    record: async (home: string, env: NodeJS.ProcessEnv = {}): Promise<string> => {
      const { code, stdout, stderr } = await run(home, ['record', '--', ...command], env);
      if (code !== 0) throw new Error(`it could not be recorded: ${stdout}${stderr}`);
      provider.take();
      const { histories } = await inHome(home, (opened) => opened.read.listHistories({}));
      histories.forEach(({ history }) => void recorded.set(home, history));
      return recorded.get(home) ?? '';
    },
    /** Runs the agent again; its own output is on standard error. */
    rerun: async (
      home: string,
      env: NodeJS.ProcessEnv,
      ...options: string[]
    ): Promise<Ran & { readonly report: Report; readonly asked: readonly string[] }> => {
      const ran = await run(
        home,
        ['rerun', recorded.get(home) ?? '', ...options, '--json', '--', ...command],
        env,
      );
      const report = (ran.stdout.startsWith('{') ? JSON.parse(ran.stdout) : { calls: [] }) as Report;
      return { ...ran, report, asked: provider.take().map(({ request }) => request.toString()) };
    },
    file: (name: string, text: string): string => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    },
    inHome,
    /** The history that reruns of a home are of. */
    knows: (home: string, history: string): void => void recorded.set(home, history),
    close: async (): Promise<void> => {
      await provider.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
