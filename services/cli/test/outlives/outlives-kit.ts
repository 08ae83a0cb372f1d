import { branchRefOf } from '@stemma/history-store';
import { openHome } from '@stemma/home';
import { isAlive } from '@stemma/machine';
import { programFile } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

/**
 * An agent that knows nothing of Stemma: so many conversations at a time, and so many calls in each. It notes in a file what came of
 * each call: all that it was given, and why it ended if that was not the end.
 */
const AGENT = `
import { appendFileSync } from 'node:fs';
const [file, name, width, depth] = process.argv.slice(2);
const talk = async (n) => {
  const messages = [];
  for (let i = 0; i < Number(depth); i++) {
    const asked = name + '-' + n + '-' + i;
    messages.push({ role: 'user', content: asked });
    let got = '';
    let fault = null;
    try {
      const body = JSON.stringify({ model: 'm', stream: true, messages });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body });
      const decoder = new TextDecoder();
      for await (const piece of response.body) got += decoder.decode(piece, { stream: true });
      if (response.status !== 200 || !got.endsWith('[DONE]\\n\\n')) fault = 'status ' + response.status;
    } catch (error) {
      fault = error.cause?.code ?? String(error);
    }
    appendFileSync(file, JSON.stringify({ asked, got, fault }) + '\\n');
    if (fault !== null) messages.pop();
    else messages.push({ role: 'assistant', content: 'It is ' + asked });
  }
};
await Promise.all(Array.from({ length: Number(width) }, (_, n) => talk(n)));
appendFileSync(file, JSON.stringify({ ended: name }) + '\\n');
`;

/** What became of a call, as its client saw it. */
export type AgentCall = { readonly asked: string; readonly got: string; readonly fault: string | null };

/** A call as the home has it. */
export type LoggedCall = {
  readonly asked: string;
  readonly status: string;
  readonly got: string;
  readonly error: string | null;
};

export type RecordRun = {
  readonly pid: number;
  /** All that went to the terminal. */
  readonly printed: () => string;
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly signal: (signal: NodeJS.Signals) => void;
};

/** A folder with a home, a provider that streams its answers in pieces, and agents that are recorded. */
export const openOutlives = async ({ pieces = 8, gap = 15 } = {}) => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-outlives-'));
  const homeDirectory = join(directory, 'home');
  const results = join(directory, 'results.jsonl');
  writeFileSync(join(directory, 'agent.mjs'), AGENT);
  writeFileSync(results, '');
  const asked: string[] = [];
  const answer = async (words: string, outgoing: ServerResponse): Promise<void> => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let i = 0; i < pieces && !outgoing.destroyed; i++) {
      await sleep(gap);
      outgoing.write(eventOf({ content: i === 0 ? `It is ${words}` : ' ' }, null));
    }
    outgoing.end(`${eventOf({}, 'stop')}data: [DONE]\n\n`);
  };
  const provider = createServer((incoming, outgoing) => {
    const body: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => body.push(piece));
    incoming.on('end', () => {
      const words = lastAsked(Buffer.concat(body).toString());
      asked.push(words);
      void answer(words, outgoing);
    });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const env = {
    ...process.env,
    STEMMA_HOME: homeDirectory,
    OPENAI_BASE_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`,
  };
  const runs: RecordRun[] = [];
  const record = (command: readonly string[], options: readonly string[] = []): RecordRun => {
    const child = spawn(process.execPath, [programFile('stemma'), 'record', ...options, '--', ...command], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => (printed += piece.toString()));
    const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
    const run: RecordRun = {
      pid: child.pid ?? 0,
      printed: () => printed,
      ended,
      signal: (signal) => void child.kill(signal),
    };
    runs.push(run);
    return run;
  };
  const readResults = (): readonly (AgentCall | { readonly ended: string })[] =>
    readFileSync(results, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AgentCall | { readonly ended: string });
  return {
    homeDirectory,
    /** The words of each request that came to the provider. */
    asked,
    record,
    /** Records an agent of `width` conversations with `depth` calls each. */
    recordAgent: (name: string, width: number, depth: number, options?: readonly string[]) =>
      record(
        [process.execPath, join(directory, 'agent.mjs'), results, name, String(width), String(depth)],
        options,
      ),
    /** The calls of all agents, as they ended. */
    agentCalls: (): readonly AgentCall[] => readResults().filter((each) => 'asked' in each),
    agentEnded: async (name: string): Promise<void> => {
      await expect
        .poll(() => readResults().some((each) => 'ended' in each && each.ended === name), { timeout: 60_000 })
        .toBe(true);
    },
    /** The forwarders of this home that run. */
    forwarders: (): readonly number[] => forwardersOf(homeDirectory),
    noForwarder: async (): Promise<void> => {
      await expect.poll(() => forwardersOf(homeDirectory), { timeout: 30_000 }).toEqual([]);
    },
    /** All calls of the home, by what they asked. */
    logged: async (): Promise<readonly LoggedCall[]> => loggedIn(homeDirectory),
    /** A command of Stemma on the home. */
    stemma: async (...args: readonly string[]): Promise<{ code: number; printed: string }> => {
      const child = spawn(process.execPath, [programFile('stemma'), ...args], { env });
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (piece: Buffer) => (printed += piece.toString()));
      const [code] = (await once(child, 'exit')) as [number];
      return { code, printed };
    },
    close: async (): Promise<void> => {
      for (const run of runs) run.signal('SIGKILL');
      for (const pid of forwardersOf(homeDirectory)) process.kill(pid, 'SIGKILL');
      provider.closeAllConnections();
      provider.close();
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

const eventOf = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    ...{ id: 'c', object: 'chat.completion.chunk', model: 'm' },
    choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: finish }],
  })}\n\n`;

/** The last message of a request. */
const lastAsked = (body: string): string =>
  (JSON.parse(body) as { messages: readonly { content: string }[] }).messages.at(-1)?.content ?? '';

/** A forwarder has its recorder's environment. */
const forwardersOf = (home: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isForwarderOf(name, home))
    .map(Number);

const isForwarderOf = (pid: string, home: string): boolean => {
  try {
    return (
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('forwarder-process') &&
      readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`STEMMA_HOME=${home}`) &&
      isAlive(Number(pid))
    );
  } catch {
    return false; // it has ended meanwhile
  }
};

const loggedIn = async (directory: string): Promise<readonly LoggedCall[]> => {
  const home = await openHome({ directory });
  try {
    // A branch lists the calls that it shares with the one it came from, too.
    const found = new Map<string, LoggedCall>();
    for (const { history, branches } of await home.read.histories())
      for (const { branchId } of branches)
        for (const { attemptId } of (await home.calls.list(branchRefOf(history, branchId))).attempts) {
          const { status, response, error } = await home.calls.find(history, attemptId);
          const body = async (which: 'request' | 'response'): Promise<string> =>
            Buffer.from(await home.calls.body(history, attemptId, which)).toString();
          found.set(attemptId, {
            asked: lastAsked(await body('request')),
            status,
            got: response === null ? '' : await body('response'),
            error: error?.message ?? null,
          });
        }
    return [...found.values()];
  } finally {
    await home.close();
  }
};
