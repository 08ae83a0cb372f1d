import { join } from 'node:path';
import { openProcesses } from '../gateway/processes.ts';
import { inParallel, median, spread, timed, type Spread } from '../measure.ts';
import { figure, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import { openCallClient, type CallClient } from './call-client.ts';
import { conversation } from './conversation.ts';
import { LITELLM, startLitellm } from './litellm.ts';
import { recordedCalls, untilRecorded } from './recorded-calls.ts';
import { startUpstream } from './upstream.ts';

const AT_ONCE = 64;
/** Calls each way before any is measured: until then the engine compiles what it runs. */
const WARM_UP = 300;
/** Calls of one conversation; each has the answers before it. */
const TURNS = 5;

type Way = { readonly title: string; readonly client: CallClient };
type Measured = {
  readonly whole: Spread;
  readonly first: Spread;
  /** How much later the first byte comes than that of the same call straight to the upstream, which is made just before. */
  readonly behind: Spread;
};

/** One call at a time, each way in turn: what slows one of them down slows the others, too. */
const oneByOne = async (
  ways: readonly Way[],
  calls: number,
  name: string,
): Promise<Map<string, Measured>> => {
  const times = new Map(ways.map(({ title }) => [title, { whole: [] as number[], first: [] as number[] }]));
  for (let n = -WARM_UP; n < calls; n++)
    for (const { title, client } of ways) {
      const [body = ''] = conversation(`${name} ${n}`, 1);
      const { whole } = await client.call(body);
      const { first } = await client.call(body.replace(/\}$/, ',"stream":true}'));
      if (n < 0) continue;
      times.get(title)?.whole.push(whole);
      times.get(title)?.first.push(first);
    }
  const straight = times.get(DIRECT)?.first ?? [];
  return new Map(
    [...times].map(([title, { whole, first }]) => {
      const behind = first.map((ms, n) => ms - (straight[n] ?? 0));
      return [title, { whole: spread(whole), first: spread(first), behind: spread(behind) }];
    }),
  );
};

/** Conversations side by side. @returns calls a second */
const manyAtOnce = async (
  client: CallClient,
  name: string,
  conversations: number,
  recorded: () => Promise<void>,
): Promise<number> => {
  const { ms } = await timed(async () => {
    await inParallel(conversations, AT_ONCE, async (n) => {
      for (const body of conversation(`${name} ${n}`, TURNS)) await client.call(body);
    });
    await recorded();
  });
  return (conversations * TURNS * 1000) / ms;
};

const DIRECT = 'straight to the upstream';
const OURS = 'through Stemma, recorded';
const THEIRS = `through LiteLLM ${LITELLM}`;

type Round = {
  readonly times: ReadonlyMap<string, Measured>;
  /** Calls a second with many at once: the first ones, and later ones. */
  readonly perSecond: ReadonlyMap<string, { readonly first: number; readonly later: number }>;
};

/** Passes with many at once after the first one and before the one that is measured. */
const WARM_PASSES = 2;

const measure = async (
  directory: string,
  calls: number,
  conversations: number,
): Promise<Round & { readonly missing?: string }> => {
  const upstream = await startUpstream();
  const processes = openProcesses();
  const litellm = await startLitellm(upstream.url, directory);
  try {
    const url = await processes.start(
      'gateway',
      [],
      {
        ...{ STEMMA_HOME: join(directory, 'home'), STEMMA_PORT: '0', STEMMA_LOG: '', STEMMA_ROWS: '' },
        STEMMA_UPSTREAM_OPENAI: `${upstream.url}/v1`,
      },
      /Stemma is at (\S+)/,
    );
    const ways: Way[] = [
      { title: DIRECT, client: openCallClient(`${upstream.url}/v1`, 'sk-1') },
      { title: OURS, client: openCallClient(`${url}/proxy/run/bench/openai`, 'sk-1') },
      ...('url' in litellm
        ? [{ title: THEIRS, client: openCallClient(`${litellm.url}/v1`, litellm.key) }]
        : []),
    ];
    const times = await oneByOne(ways, calls, 'one');
    const perSecond = new Map<string, { readonly first: number; readonly later: number }>();
    for (const { title, client } of ways) {
      // LiteLLM takes long for each, and is no faster with more of them.
      const share = title === THEIRS ? Math.ceil(conversations / 10) : conversations;
      const run = async (name: string): Promise<number> => {
        const before = title === OURS ? await recordedCalls(url) : 0;
        const recorded = (): Promise<void> =>
          title === OURS ? untilRecorded(url, before + share * TURNS) : Promise.resolve();
        return manyAtOnce(client, name, share, recorded);
      };
      const first = await run('first');
      for (let pass = 0; pass < WARM_PASSES; pass++) await run(`pass ${pass}`);
      perSecond.set(title, { first, later: await run('many') });
      client.close();
    }
    return { times, perSecond, ...('missing' in litellm && { missing: litellm.missing }) };
  } finally {
    if ('end' in litellm) await litellm.end();
    await processes.end();
    await upstream.end();
  }
};

/** What a call through the recording proxy costs, beside LiteLLM's proxy, and how many calls a second it records. */
export const proxy = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const [calls, conversations] = quick ? [20, 20] : [300, 1_000];
  const measured: Awaited<ReturnType<typeof measure>>[] = [];
  for (let round = 0; round < rounds; round++)
    measured.push(await measure(join(directory, String(round)), calls, conversations));
  const of = (title: string, value: (times: Measured) => number): number =>
    median(measured.flatMap(({ times }) => times.get(title) ?? []).map(value));
  const rate = (title: string, part: 'first' | 'later'): number =>
    median(measured.flatMap(({ perSecond }) => perSecond.get(title)?.[part] ?? []));
  const titles = [...(measured[0]?.times.keys() ?? [])];
  const missing = measured.find((round) => round.missing !== undefined)?.missing;
  const behind = (part: 'median' | 'p99'): number => of(OURS, ({ behind }) => behind[part]);
  return {
    name: 'proxy',
    tables: [
      {
        title: 'Calls through the recording proxy: answers of 2 KB',
        columns: [
          '',
          'one at a time: ms, median',
          'p99',
          'first byte of a stream: ms, median',
          'p99',
          'behind the upstream: ms, median',
          'p99',
          'just started: 64 at once, a second',
          '64 at once, a second',
        ],
        rows: titles.map((title) => [
          title,
          ...[
            of(title, ({ whole }) => whole.median),
            of(title, ({ whole }) => whole.p99),
            of(title, ({ first }) => first.median),
            of(title, ({ first }) => first.p99),
            of(title, ({ behind }) => behind.median),
            of(title, ({ behind }) => behind.p99),
            rate(title, 'first'),
            rate(title, 'later'),
          ].map(figure),
        ]),
        notes: [
          `${rounds} rounds; medians. One at a time: ${calls} calls each way, in turn, and as many streams; how far a stream is behind is measured call for call. 64 at once: ${conversations} conversations of ${TURNS} calls; through Stemma until all of them are recorded.`,
          `Just started: the first ${conversations} conversations, of LiteLLM a tenth; ${WARM_PASSES} times as many follow before those of the last column.`,
          'The client, the upstream and the proxies share the machine.',
          ...(missing === undefined ? [] : [missing]),
        ],
      },
    ],
    aims: aimsOf(behind, rate(OURS, 'later')),
    figures: {
      rounds: measured.map(({ times, perSecond }) => ({
        times: Object.fromEntries(times),
        perSecond: Object.fromEntries(perSecond),
      })),
    },
  };
};

const aimsOf = (behind: (part: 'median' | 'p99') => number, perSecond: number): readonly Aim[] => [
  ...(['median', 'p99'] as const).map((part): Aim => ({
    ...{ what: `first byte behind the upstream's, ms, ${part}`, aim: '≤ 5' },
    ...{ measured: figure(behind(part)), met: behind(part) <= 5 },
  })),
  {
    ...{ what: 'calls recorded a second', aim: '≥ 1,000' },
    ...{ measured: figure(perSecond), met: perSecond >= 1_000 },
  },
];
