import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel, median, timed } from '../measure.ts';
import { conversation } from '../proxy/conversation.ts';
import { readMetrics, untilRecorded } from '../proxy/recorded-calls.ts';
import { startUpstream } from '../proxy/upstream.ts';
import { bytes, figure, type Aim, type Table } from '../table.ts';
import { openClient } from './client.ts';
import { openProcesses } from './processes.ts';

/** What so many new conversations took of a gateway, each with one call through its proxy. */
export type NewConversations = {
  readonly perSecond: number;
  /** Seconds from the end of a call to its recording, at most. */
  readonly lag: number;
  /** Milliseconds of the gateway's processor time, for one. */
  readonly processor: number;
  /** Bytes of its own memory, at most and at the end. */
  readonly most: number;
  readonly end: number;
};

const AT_ONCE = 64;
/** Conversations before any is measured. */
const WARM_UP = 1_500;
/** How often the gateway is looked at, in milliseconds. */
const EVERY = 200;
/** No call is sent while the oldest that waits has waited for so many seconds. */
const HOLD = 1;
/** The most seconds that a call may wait. */
const MOST_LAG = 2;
const MOST_BYTES = 600e6;

/** Bytes of a process's own memory: pages of files that it maps are not among them. Not a number where the system does not say. */
const ownMemory = (pid: number): number => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
};

/** What a gateway says of itself. */
const look = async (url: string): Promise<{ readonly lag: number; readonly processor: number }> => {
  const value = await readMetrics(url);
  const seconds = (kind: string): number =>
    value(new RegExp(`^process_cpu_${kind}_seconds_total (\\S+)$`, 'm'));
  return {
    lag: value(/^stemma_proxied_lag_seconds (\S+)$/m),
    processor: (seconds('user') + seconds('system')) * 1_000,
  };
};

/** Sends new conversations to a gateway that has just started, as fast as it records them. */
export const measureNewConversations = async (
  directory: string,
  count: number,
): Promise<NewConversations> => {
  const upstream = await startUpstream();
  const processes = openProcesses();
  try {
    const env = {
      ...{ STEMMA_HOME: join(directory, 'home'), STEMMA_PORT: '0', STEMMA_LOG: '', STEMMA_ROWS: '' },
      STEMMA_UPSTREAM_OPENAI: `${upstream.url}/v1`,
    };
    const url = await processes.start('gateway', [], env, /Stemma is at (\S+)/);
    const pid = processes.pid();
    let [lag, most, done] = [0, 0, false];
    let go: Promise<unknown> = Promise.resolve();
    let release = (_: undefined): void => undefined;
    /** Lets calls out while those before them are recorded soon enough. */
    const watch = async (): Promise<void> => {
      let isHeld = false;
      while (!done) {
        const now = await look(url);
        lag = Math.max(lag, now.lag);
        most = Math.max(most, ownMemory(pid));
        const hold = now.lag >= HOLD;
        if (hold && !isHeld) ({ promise: go, resolve: release } = Promise.withResolvers<undefined>());
        else if (!hold) release(undefined);
        isHeld = hold;
        await sleep(EVERY);
      }
      release(undefined);
    };
    const client = await openClient(url, AT_ONCE);
    const send = async (name: string, calls: number): Promise<void> =>
      inParallel(calls, AT_ONCE, async (n) => {
        await go;
        await client.post('/proxy/openai/chat/completions', conversation(`${name} ${n}`, 1)[0]);
      });
    await send('warm', WARM_UP);
    await untilRecorded(url, WARM_UP);
    const before = await look(url);
    const sending = timed(async () => {
      await send('many', count);
      await untilRecorded(url, WARM_UP + count);
    }).finally(() => {
      done = true;
    });
    const [{ ms }] = await Promise.all([sending, watch()]);
    client.close();
    const { processor } = await look(url);
    const end = ownMemory(pid);
    return {
      ...{ perSecond: (count * 1000) / ms, lag, most: Math.max(most, end), end },
      processor: (processor - before.processor) / count,
    };
  } finally {
    await processes.end();
    await upstream.end();
  }
};

/** The median of a figure over the rounds. */
const middle = (all: readonly NewConversations[], of: (one: NewConversations) => number): number =>
  median(all.map(of));

export const newConversationsTable = (measured: ReadonlyMap<number, readonly NewConversations[]>): Table => ({
  title: 'New conversations through the proxy',
  columns: [
    '',
    'a second',
    'lag, s, at most',
    'processor time of one, ms',
    'own memory at most',
    'at the end',
  ],
  rows: [...measured].map(([count, all]) => [
    figure(count),
    figure(middle(all, ({ perSecond }) => perSecond)),
    figure(Math.max(...all.map(({ lag }) => lag))),
    figure(middle(all, ({ processor }) => processor)),
    ...[middle(all, ({ most }) => most), middle(all, ({ end }) => end)].map((size) =>
      Number.isNaN(size) ? '–' : bytes(size),
    ),
  ]),
  notes: [
    `Each is one call of a conversation that nobody knows yet, with an answer of 2 KB; the log is embedded, and ${figure(WARM_UP)} are recorded before.`,
    `${AT_ONCE} at once, as fast as they are recorded: none is sent while the oldest that waits has waited for ${HOLD} s. The lag is how long a call that has ended waits for its recording.`,
    'Processor time of the gateway with all its threads. Own memory: RssAnon, without the pages of the rows that are mapped.',
    'Client, upstream and gateway share the machine. The gateway runs from its sources, which takes some 80 MB more than the built program.',
  ],
});

export const newConversationsAims = (
  measured: ReadonlyMap<number, readonly NewConversations[]>,
): readonly Aim[] =>
  [...measured].flatMap(([count, all]) => {
    const what = `${figure(count)} new conversations`;
    const [perSecond, lag] = [middle(all, (one) => one.perSecond), Math.max(...all.map((one) => one.lag))];
    const most = middle(all, (one) => one.most);
    const isFast = perSecond >= 500 && lag <= MOST_LAG;
    const memory = Number.isNaN(most) ? '–' : bytes(most);
    return [
      {
        what: `${what}: a second with a lag of at most ${MOST_LAG} s`,
        ...{ aim: '≥ 500', measured: figure(perSecond), met: isFast },
      },
      {
        what: `${what}: own memory at most`,
        ...{ aim: `≤ ${bytes(MOST_BYTES)}`, measured: memory, met: most <= MOST_BYTES },
      },
    ];
  });
