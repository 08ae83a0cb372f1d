import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from './run-stemma.ts';
import { asShown, mask, stepsOf, withOutputs } from './tutorial-page.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'README.md');

/** Asks seven times and never again, whatever it is answered; knows nothing of Stemma. */
const AGENT = `
import json, os, urllib.request

messages = [
    {"role": "system", "content": "You answer customers of a bicycle shop."},
    {"role": "user", "content": "My parcel 7731 has not come. I want my money back."},
]
for n in range(7):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": "gpt-4o", "messages": messages}).encode(),
        {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    answer = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
    messages.append(answer)
    for call in answer.get("tool_calls") or []:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "done"})
    if not answer.get("tool_calls"):
        messages.append({"role": "user", "content": "And then?"})
`;

/** The model: its first answer calls a tool, the others are said. */
const answerTo = (messages: readonly { readonly role: string }[]): object => {
  const said = messages.filter(({ role }) => role === 'assistant').length;
  const call = { id: 'call-1', type: 'function', function: { name: 'refund', arguments: '{"parcel":7731}' } };
  return said === 0
    ? { role: 'assistant', content: null, tool_calls: [call] }
    : { role: 'assistant', content: `This is step ${said + 1}.` };
};

const hasPython = spawnSync('python3', ['--version']).status === 0;

const folder = temporaryFolder();
const cwd = join(folder.path, 'here');
let model: Server;
let env: NodeJS.ProcessEnv;
const asked: (readonly { readonly role: string; readonly content: unknown }[])[] = [];

beforeAll(async () => {
  model = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    incoming.on('end', () => {
      const { messages } = JSON.parse(Buffer.concat(pieces).toString()) as {
        messages: (typeof asked)[number];
      };
      asked.push(messages);
      const choices = [{ index: 0, message: answerTo(messages), finish_reason: 'stop' }];
      const usage = { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 };
      outgoing.setHeader('content-type', 'application/json');
      outgoing.end(JSON.stringify({ object: 'chat.completion', model: 'gpt-4o', choices, usage }));
    });
  }).listen(0, '127.0.0.1');
  await once(model, 'listening');
  mkdirSync(cwd);
  symlinkSync(join(ROOT, 'stemma'), join(cwd, 'stemma'));
  symlinkSync(join(ROOT, 'samples'), join(cwd, 'samples'));
  const bin = join(folder.path, 'bin');
  mkdirSync(bin);
  // Not every machine calls it python.
  writeFileSync(join(bin, 'python'), '#!/bin/sh\nexec python3 "$@"\n', { mode: 0o755 });
  writeFileSync(join(cwd, 'agent.py'), AGENT);
  copyFileSync(join(ROOT, 'samples/harbour-tram.chat.json'), join(cwd, 'conversation.json'));
  env = {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: folder.path,
    TMPDIR: folder.path,
    STEMMA_ACTOR: 'ann',
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
  };
});
afterAll(() => {
  model.closeAllConnections();
  model.close();
  folder[Symbol.dispose]();
});

/** Runs a line of the page as it stands. */
const run = async (line: string): Promise<string> => {
  const child = spawn('sh', ['-c', `exec 2>&1\n${line}`], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (piece: Buffer) => (text += piece.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, `${line}\n${text}`).toBe(0);
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
};

const until = async (what: string, holds: () => Promise<boolean> | boolean): Promise<void> => {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${what} did not come about`);
    await pause(50);
  }
};

test(
  'every command of the README does what the page says (STEMMA_WRITE_TUTORIAL=1 writes the outputs)',
  {
    timeout: 600_000,
  },
  async ({ skip }) => {
    if (!hasPython && !process.env['CI']) skip('no python3 here: the agent of the page is a Python program');
    const page = readFileSync(PAGE, 'utf8');
    const outputs: string[] = [];
    for (const { commands } of stepsOf(page)) {
      let printed = '';
      let beside: Promise<string> | undefined;
      for (const line of commands.trimEnd().split('\n')) {
        if (line.startsWith('./stemma record --steer')) {
          beside = run(line);
          await until('a held call', async () => (await run('./stemma held')).includes('live'));
          continue;
        }
        printed += await run(line);
        if (line.startsWith('./stemma resume')) await beside;
      }
      outputs.push(printed);
    }
    // What was injected was shown to the model, and stayed.
    const injected = asked.filter((messages) =>
      messages.some(({ content }) => JSON.stringify(content).includes('Ask for the return number first.')),
    );
    expect(injected).toHaveLength(6);

    if (process.env['STEMMA_WRITE_TUTORIAL'] === '1') writeFileSync(PAGE, withOutputs(page, outputs));
    const shown = stepsOf(readFileSync(PAGE, 'utf8')).map(({ output }) => output);
    outputs.forEach((output, i) => {
      const expected = shown[i] ?? null;
      if (expected === null) expect(output).not.toBe('');
      else expect(asShown(output, expected)).toBe(mask(expected));
    });
  },
);
