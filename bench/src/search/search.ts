import { historyId, type Step } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { median } from '../measure.ts';
import { figure, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import { prose, seeded } from '../text.ts';

type Query = Parameters<Home['search']['find']>[0];

const NODES_A_HISTORY = 1_000;
const NODES_A_CALL = 20;
/** Of how many nodes one has the rare word. */
const RARE = 10_000;

const nameOf = (history: number): string => `talk-${history}`;

/** Histories of 1,000 nodes each, of 120 characters of prose, half of them said by the user. */
const record = async (home: Home, nodes: number): Promise<void> => {
  const random = seeded(17);
  let count = 0;
  for (let at = 0; at * NODES_A_HISTORY < nodes; at++) {
    const name = nameOf(at);
    const history = historyId(name, '');
    const submit = (id: string, steps: readonly Step[]) =>
      home.submit({ id, history, branchId: 0, by: { recorder: 'bench' }, steps: [...steps] });
    await submit(`start-${at}`, [{ op: 'start', name }]);
    const blocks = Array.from({ length: NODES_A_HISTORY }, (_, i): Step => {
      // Words like these are in every second text.
      const said = `${i % 4 < 2 ? 'the ' : ''}${prose(random, 120)}`;
      const content = count++ % RARE === 0 ? `${said} zyxwvut ${said}` : said;
      return {
        op: 'insert',
        parent: '^ah',
        node: { nodeType: 'cb', role: i % 2 === 0 ? 'user' : 'assistant', content },
      };
    });
    for (let from = 0; from < blocks.length; from += NODES_A_CALL)
      await submit(`call-${at}-${from}`, [...blocks.slice(from, from + NODES_A_CALL), { op: 'commit' }]);
  }
};

/** A word of the prose that is among its most frequent ones, and two that follow each other. */
const wordsOf = (texts: number): { readonly frequent: string; readonly phrase: string } => {
  const random = seeded(17);
  const counts = new Map<string, number>();
  let phrase = '';
  for (let i = 0; i < texts; i++) {
    const words =
      prose(random, 120)
        .toLowerCase()
        .match(/[a-z]+/g) ?? [];
    phrase = words.slice(3, 5).join(' ');
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const [[frequent]] = [...counts].sort(([, a], [, b]) => b - a) as [[string, number]];
  return { frequent, phrase };
};

const timed = async (rounds: number, find: () => Promise<unknown>): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const begun = performance.now();
    await find();
    times.push(performance.now() - begun);
  }
  return times;
};

/** What a search takes that finds one node of ten thousand, every second one, a phrase, a beginning. */
export const search = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const nodes = quick ? 2_000 : 1_000_000;
  let home = await openHome({ directory, create: true });
  await record(home, nodes);
  const { frequent, phrase } = wordsOf(1_000);
  const begun = performance.now();
  await home.search.find({ text: 'zyxwvut' });
  const indexing = performance.now() - begun;
  const within = { name: nameOf(0), branchRef: await home.find(nameOf(0)) };
  const queries: readonly (readonly [string, Query])[] = [
    ['a rare word', { text: 'zyxwvut' }],
    ['a word of every second node', { text: 'the' }],
    ['the same, said by one role', { text: 'the', role: 'user' }],
    ['it and a frequent word', { text: `the ${frequent}` }],
    ['a frequent word', { text: frequent }],
    ['a frequent word, said by one role', { text: frequent, role: 'user' }],
    ['a frequent word, in one history', { text: frequent, within }],
    ['a phrase', { text: `"${phrase}"` }],
    ['words that begin so', { text: `${frequent.slice(0, 2)}*` }],
    ['a rare word without another', { text: `zyxwvut -${frequent}` }],
    ['a word that nobody says', { text: 'xyzzyzzyx' }],
  ];
  const rows: string[][] = [];
  const figures: Record<string, { first: number; again: number; total: number }> = {};
  for (const [what, query] of queries) {
    await home.close();
    // A home that was just opened has read nothing of the index.
    home = await openHome({ directory });
    await home.find(nameOf(0));
    const [first = 0] = await timed(1, () => home.search.find(query));
    const again = median(await timed(Math.max(5, rounds), () => home.search.find(query)));
    const { total, more } = await home.search.find(query);
    figures[what] = { first, again, total };
    rows.push([what, figure(first), figure(again), `${figure(total)}${more ? ' and more' : ''}`]);
  }
  await home.close();
  const aims = Object.entries(figures).map(([what, { first }]): Aim => ({
    what: `first page: ${what}`,
    aim: '≤ 100 ms',
    measured: `${figure(first)} ms`,
    met: first <= 100,
  }));
  return {
    name: 'search',
    tables: [
      {
        title: `Search: ${figure(nodes)} nodes in ${figure(nodes / NODES_A_HISTORY)} histories`,
        columns: ['ms', 'first page, home just opened', 'again', 'found'],
        rows,
        notes: [
          '120 characters of prose a node, 20 nodes a call. A page has 20 hits, each with its excerpt from the frame, whose hash is checked.',
          `The first search of all reads the log into the index: ${figure(indexing / 1_000)} s.`,
        ],
      },
    ],
    aims: quick ? [] : aims,
    figures: { ...figures, indexing },
  };
};
