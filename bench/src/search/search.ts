import { openHome, type Home } from '@stemma/home';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openProcesses } from '../gateway/processes.ts';
import { spread, timed, type Spread } from '../measure.ts';
import { STEMMA } from '../stemma-program.ts';
import { figure, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import { nameOf, NODES_A_HISTORY, RARE_WORD, record, VOCABULARY } from './record.ts';

/** A search by words, in one history, by role, or between two times. */
type Asked = {
  readonly q: string;
  readonly history?: string;
  readonly role?: string;
  readonly since?: number;
  readonly until?: number;
};

/** When the nodes were recorded, in milliseconds since 1970. */
type Times = { readonly first: number; readonly last: number };

const word = (rank: number): string => VOCABULARY[rank] as string;

/** The i-th search of each kind; those of a kind are different. Ranks: the vocabulary begins with the most frequent word. */
const KINDS: readonly (readonly [
  what: string,
  asked: (i: number, times: Times, histories: number) => Asked,
])[] = [
  ['a rare word (100 nodes, or some more)', (i) => ({ q: i === 0 ? RARE_WORD : word(40_000 + i * 101) })],
  ['a word of 0.1 to 1 % of the nodes', (i) => ({ q: word(1_000 + i * 211) })],
  ['a word of 5 to 50 %', (i) => ({ q: word(8 + i * 4) })],
  ['a word of nearly all', (i) => ({ q: word(i % 4) })],
  ['the same, in one history', (i, _, histories) => ({ q: word(i % 4), history: nameOf(i % histories) })],
  ['the same, said by one role', (i) => ({ q: word(i % 4), role: i % 2 === 0 ? 'system' : 'tool' })],
  ['the same, said by a role that nobody has', (i) => ({ q: word(i % 4), role: 'nobody' })],
  [
    'the same, in a hundredth of the time',
    (i, { first, last }) => {
      const since = Math.floor(first + ((last - first) * i) / 32);
      return { q: word(i % 4), since, until: since + Math.floor((last - first) / 100) };
    },
  ],
  ['a rare word and one of nearly all', (i) => ({ q: `${word(i % 4)} ${word(40_000 + i * 101)}` })],
  ['three words of 1 to 10 %', (i) => ({ q: `${word(40 + i)} ${word(80 + i)} ${word(200 + i)}` })],
  ['a phrase of two frequent words', (i) => ({ q: `"${word(i)} ${word(2 * i + 1)}"` })],
  [
    'a phrase of four of the most frequent',
    (i) => ({ q: `"${word(0)} ${word(1)} ${word(i % 4)} ${word(3)}"` }),
  ],
  ['words that begin with a letter', (i) => ({ q: `${word(300 + i)[0] ?? ''}*` })],
  ['words that begin with three', (i) => ({ q: `${word(5_000 + i * 7).slice(0, 3)}*` })],
  ['a frequent word without another', (i) => ({ q: `${word(20 + i)} -${word(i % 4)}` })],
  ['a word that nobody says', (i) => ({ q: `xyzzy${i}` })],
];

type Ways = {
  readonly home: (asked: Asked) => Promise<unknown>;
  readonly http: (asked: Asked) => Promise<unknown>;
  readonly process: (asked: Asked) => Promise<unknown>;
};

const throughHome =
  (home: Home) =>
  async ({ q, history, ...filter }: Asked): ReturnType<Home['queries']['search']['find']> =>
    home.queries.search.find({
      text: q,
      ...filter,
      ...(history !== undefined && { within: { name: history, branchRef: await home.find(history) } }),
    });

const overHttp =
  (url: string) =>
  async (asked: Asked): Promise<unknown> => {
    const query = new URLSearchParams(
      Object.entries(asked).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const response = await fetch(`${url.replace(/\/$/, '')}/api/search?${query.toString()}`);
    if (response.status !== 200) throw new Error(await response.text());
    return response.json();
  };

const inProcess =
  (directory: string) =>
  async ({ q, history, role, since, until }: Asked): Promise<unknown> => {
    const options = Object.entries({ in: history, role, since, until }).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [`--${name}`, typeof value === 'number' ? new Date(value).toISOString() : value],
    );
    const child = spawn(process.execPath, [STEMMA, 'grep', '--home', directory, ...options, '--', q], {
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    // 1: nothing found.
    if (code !== 0 && code !== 1) throw new Error(`stemma grep ended with ${code}`);
    return code;
  };

const series = async (count: number, find: (i: number) => Promise<unknown>): Promise<Spread> => {
  const times: number[] = [];
  for (let i = 0; i < count; i++) times.push((await timed(() => find(i))).ms);
  return spread(times);
};

const timesOf = async (find: ReturnType<typeof throughHome>, nodes: number): Promise<Times> => {
  const at = async (history: number): Promise<readonly number[]> =>
    (await find({ q: nameOf(history).replace('-', ' '), history: nameOf(history) })).hits.map(
      (hit) => hit.at,
    );
  return {
    first: Math.min(...(await at(0))),
    last: Math.max(...(await at(nodes / NODES_A_HISTORY - 1))),
  };
};

/** What the first page of a search takes: in a process that has the home open, over HTTP, and as a command. */
export const search = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const nodes = quick ? 2_000 : 1_000_000;
  const written = await openHome({ directory, create: true });
  await record(written, nodes);
  const indexing = await timed(() => written.queries.search.find({ text: RARE_WORD }));
  await written.close();
  const size = statSync(join(directory, 'search', 'index.sqlite')).size;
  const processes = openProcesses();
  const home = await openHome({ directory });
  try {
    const url = await processes.start(
      'gateway',
      [],
      { STEMMA_HOME: directory, STEMMA_PORT: '0', STEMMA_LOG: '', STEMMA_ROWS: '' },
      /Stemma is at (\S+)/,
    );
    const ways: Ways = { home: throughHome(home), http: overHttp(url), process: inProcess(directory) };
    const times = await timesOf(throughHome(home), nodes);
    await ways.http({ q: RARE_WORD });
    const rows: string[][] = [];
    const measured: Record<string, Readonly<Record<keyof Ways, Spread>>> = {};
    const histories = nodes / NODES_A_HISTORY;
    for (const [what, make] of KINDS) {
      const asked = (i: number): Asked => make(i, times, histories);
      const found = await throughHome(home)(asked(0));
      const one = {
        home: await series(8 * rounds, (i) => ways.home(asked(i))),
        http: await series(8 * rounds, (i) => ways.http(asked(i))),
        process: await series(rounds, (i) => ways.process(asked(i))),
      };
      measured[what] = one;
      rows.push([
        what,
        `${figure(found.total)}${found.more ? ' and more' : ''}`,
        ...[one.home, one.http].flatMap(({ median, p99 }) => [figure(median), figure(p99)]),
        figure(one.process.median),
      ]);
    }
    const aim = (what: string, way: 'home' | 'http'): Aim => {
      const worst = Math.max(...Object.values(measured).map((one) => one[way].p99));
      return { what, aim: '≤ 100 ms', measured: `${figure(worst)} ms`, met: worst <= 100 };
    };
    return {
      name: 'search',
      tables: [
        {
          title: `Search: ${figure(nodes)} nodes in ${figure(nodes / NODES_A_HISTORY)} histories`,
          columns: ['ms', 'found', 'home', 'p99', 'HTTP', 'p99', 'stemma grep'],
          rows,
          notes: [
            '8 to 350 words a node, 60 on average, of a vocabulary of 50,000 that is distributed as words of a language are; 20 nodes a call.',
            'A page has 20 hits, each with its excerpt from the frame, whose hash is checked. “Found” is of the first search of a kind.',
            `Medians and p99 of ${8 * rounds} different searches of a kind; \`stemma grep\` as a process of its own, ${rounds} of a kind: median.`,
            `The first search of all reads the log into the index: ${figure(indexing.ms / 1_000)} s, ${figure(size / nodes)} bytes a node.`,
          ],
        },
      ],
      aims: quick ? [] : [aim('first page, the slowest p99', 'home'), aim('the same over HTTP', 'http')],
      figures: { ...measured, indexing: indexing.ms, size },
    };
  } finally {
    await processes.end();
    await home.close();
  }
};
