import type { WideJsonObject } from '@stemma/canonical';
import { upstreamsOf, serveHome } from '@stemma/gateway';
import type { BranchRef } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { toOpenAIMessages } from '@stemma/importers';
import { comparableMessage } from '@stemma/model-apis';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { sized } from '@stemma/test-kit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { importFile } from '../src/import-file.ts';
import { PLAYING_CLIENTS, type ChatMessage, type PlayingClient } from './playing-clients.ts';
import { temporaryFolder } from './run-stemma.ts';
import { callsOf, transcripts, type Transcript } from './transcripts.ts';

/** What the provider says to the next request. */
let answer = '{}';
/** Calls that were made through the gateway, of which all have ended. */
let calls = 0;
let folder: ReturnType<typeof temporaryFolder>;
let provider: ReturnType<typeof createServer>;
let gateway: Awaited<ReturnType<typeof serveHome>>;
let home: Home;
beforeAll(async () => {
  folder = temporaryFolder();
  provider = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      outgoing.setHeader('content-type', 'application/json');
      outgoing.end(answer);
    });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const directory = join(folder.path, 'home');
  gateway = await serveHome({
    home: { directory, create: true },
    port: 0,
    upstreams: upstreamsOf({ STEMMA_UPSTREAM_OPENAI: `${url}/v1`, STEMMA_UPSTREAM_ANTHROPIC: url }),
  });
  home = await openHome({ directory });
});
afterAll(async () => {
  await home.close();
  await gateway.close();
  provider.closeAllConnections();
  provider.close();
  folder[Symbol.dispose]();
});

const messagesOf = ({ messages }: Transcript): readonly ChatMessage[] => messages as readonly ChatMessage[];

/** Calls a model as the agent of a transcript did, through the proxy, and gets what it got. */
const play = async (transcript: Transcript, client: PlayingClient, run: string): Promise<void> => {
  const messages = messagesOf(transcript);
  for (const [i, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    answer = JSON.stringify(client.response(message, ++calls));
    const response = await fetch(`${gateway.url}/proxy/run/${run}/${client.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(client.request(messages.slice(0, i), calls)),
    });
    expect(response.status).toBe(200);
    await response.text();
  }
};

const runOf = (client: string, i: number): string => `${client.replaceAll(' ', '-')}-${i}`;

/** The branches of the home, once all calls are recorded. */
const branchesOfCalls = async (): Promise<readonly BranchRef[]> =>
  vi.waitFor(
    async () => {
      const { histories } = await home.read.listHistories({ limit: 1_000 });
      const branches = histories.flatMap(({ history, branches: each }) =>
        each.map(({ branchId, branch }) => ({ history, branchId, branch })),
      );
      const counted = await Promise.all(histories.map(({ history }) => home.calls.counts(history)));
      expect(counted.flat().reduce((sum, each) => sum + each.calls, 0)).toBe(calls);
      return branches;
    },
    { timeout: 60_000, interval: 50 },
  );

/** What the model was shown at each call of a branch: only what counts of a message, as clients write the same in several ways. */
const threadsOf = async (of: Home, branch: BranchRef, labels: readonly string[]): Promise<string[][]> => {
  const threads: string[][] = [];
  for (const label of labels) {
    const { tree, payloads, thread } = await of.read.view(await of.position(branch, label));
    threads.push(comparable(toOpenAIMessages(tree, payloads, thread)));
  }
  return threads;
};
const comparable = (messages: readonly WideJsonObject[]): string[] =>
  // Into which items a client of the Responses API cuts a message.
  messages.map(({ items: _, ...message }) => comparableMessage(message));

/** Trials of each task, which begin alike. */
const tasks = [...Map.groupBy(transcripts, ({ file }) => basename(file).replace(/-trial-.*/, '')).values()];
/** All of them in a long run, else one. */
const someTasks = tasks.slice(0, sized(1, tasks.length));
/** All of them in a long run, else the two with the fewest messages. */
const shortOnes = transcripts
  .toSorted((a, b) => a.messages.length - b.messages.length)
  .slice(0, sized(2, transcripts.length));

/** What the model was shown at each call, as the branches have it that an import of each trial alone would make: nothing twice. */
const threadsOfTrials = (trials: readonly Transcript[]): readonly string[][] => {
  const all = trials.map((trial) =>
    callsOf(trial.messages).map((call) => comparable(call as readonly ChatMessage[]).join('\n')),
  );
  const isPartOf = (a: readonly string[], b: readonly string[]): boolean =>
    a.length <= b.length && a.every((thread, i) => thread === b[i]);
  return all.filter(
    (a, i) => !all.some((b, k) => k !== i && isPartOf(a, b) && (k < i || a.length < b.length)),
  );
};

const labelsUpTo = (cycles: number): string[] => Array.from({ length: cycles }, (_, i) => `@c${i + 1}`);

test.for(Object.entries(PLAYING_CLIENTS))(
  'a transcript that %s plays through the proxy is the history that its import is',
  { tags: ['calls§3.1', 'calls§3.2'], timeout: 600_000 },
  async ([name, client], context) => {
    if (transcripts.length === 0)
      context.skip('no recorded transcripts lie beside the checkout (STEMMA_TRANSCRIPTS)');
    const other = await openHome({ directory: join(folder.path, `imported ${name}`), create: true });
    try {
      for (const [i, transcript] of shortOnes.entries()) {
        const known = new Set((await branchesOfCalls()).map(({ history }) => history));
        await play(transcript, client, runOf(name, i));
        const branches = (await branchesOfCalls()).filter(({ history }) => !known.has(history));
        const { signal } = new AbortController();
        const { imported: wanted } = await importFile(other, transcript.file, {
          ...{ format: 'auto', name: null, signal },
        });
        if (wanted === undefined) throw new Error('nothing was imported');
        const labels = labelsUpTo(wanted.cycles);
        const [main] = branches;
        if (main === undefined) throw new Error('nothing was recorded');
        expect(branches).toHaveLength(1);
        const { attempts } = await home.calls.list(main);
        expect(attempts.map(({ label }) => label)).toEqual(labels);
        const imports = await other.find(wanted.history);
        expect(await threadsOf(home, main, labels)).toEqual(await threadsOf(other, imports, labels));
      }
    } finally {
      await other.close();
    }
  },
);

test.for(Object.entries(PLAYING_CLIENTS))(
  'trials of a task that %s plays one after the other are branches that part where the trials do',
  { tags: ['calls§3.4', 'calls§3.13'], timeout: 600_000 },
  async ([name, client], context) => {
    if (tasks.length === 0)
      context.skip('no recorded transcripts lie beside the checkout (STEMMA_TRANSCRIPTS)');
    for (const [i, trials] of someTasks.entries()) {
      const known = new Set((await branchesOfCalls()).map(({ history }) => history));
      for (const trial of trials) await play(trial, client, runOf(`${name} task`, i));
      const branches = (await branchesOfCalls()).filter(({ history }) => !known.has(history));
      const recorded: string[][] = [];
      for (const branch of branches) {
        const { attempts } = await home.calls.list(branch);
        const threads = await threadsOf(home, branch, [...new Set(attempts.map(({ label }) => label))]);
        recorded.push(threads.map((thread) => thread.join('\n')));
      }
      const wanted = threadsOfTrials(trials);
      expect(recorded.toSorted(byText)).toEqual(wanted.toSorted(byText));
      const beginnings = new Set(wanted.map(([first]) => first));
      expect(new Set(branches.map(({ history }) => history)).size).toBe(beginnings.size);
    }
  },
);

const byText = (a: readonly string[], b: readonly string[]): number =>
  compareText(a.join('\n'), b.join('\n'));
const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
