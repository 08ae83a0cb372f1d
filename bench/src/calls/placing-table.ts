import { median } from '../measure.ts';
import { figure, times, type Aim, type Table } from '../table.ts';
import type { PlacedAs, PlacedCalls } from './placing.ts';

/** What placing calls took in each round, among so many conversations. */
export type PlacedAmong = { readonly conversations: number; readonly rounds: readonly PlacedCalls[] };

/** Milliseconds for a call. */
const MOST = 0.3;
/** How much dearer it may be among the most conversations than among the fewest. */
const MOST_GROWTH = 1.5;
/** What nearly all calls of agents are. */
const USUAL: readonly PlacedAs[] = ['goes on', 'is tried again'];

const waysOf = (placed: readonly PlacedAmong[]): readonly PlacedAs[] =>
  Object.keys(placed[0]?.rounds[0] ?? {}) as PlacedAs[];

const costOf = (among: PlacedAmong | undefined, way: PlacedAs): number =>
  median((among?.rounds ?? []).map((round) => round[way]));

const slowest = (among: PlacedAmong | undefined, ways: readonly PlacedAs[]): number =>
  Math.max(...ways.map((way) => costOf(among, way)));

export const placingTable = (placed: readonly PlacedAmong[]): Table => ({
  title: 'Calls: where one belongs, CPU, ms',
  columns: ['a call that', ...placed.map(({ conversations }) => `of ${figure(conversations)}`)],
  rows: waysOf(placed).map((way) => [way, ...placed.map((among) => figure(costOf(among, way)))]),
  notes: [
    'Conversations of four calls, of one run and with the same system message, nine messages of 200 bytes and a prompt of 500 in the next call. Nothing is remembered: the rows say all, as after a restart. Hashing the messages is in it.',
    'One that begins a conversation also asks who may have called it, and which conversation it may continue.',
  ],
});

export const placingAims = (placed: readonly PlacedAmong[]): readonly Aim[] => {
  const [few, many] = [placed[0], placed.at(-1)];
  const ways = waysOf(placed);
  const among = `among ${figure(many?.conversations ?? 0)} conversations`;
  const limit = (what: string, of: readonly PlacedAs[]): Aim => {
    const ms = slowest(many, of);
    return { what: `${what}, ${among}`, aim: `≤ ${MOST} ms`, measured: `${figure(ms)} ms`, met: ms <= MOST };
  };
  const growth = Math.max(...ways.map((way) => costOf(many, way) / costOf(few, way)));
  return [
    limit('placing a call that goes on or is tried again', USUAL),
    limit('placing any call', ways),
    {
      what: `placing a call ${among}, against ${figure(few?.conversations ?? 0)}`,
      ...{ aim: `flat: ≤ ${times(MOST_GROWTH)}`, measured: times(growth), met: growth <= MOST_GROWTH },
    },
  ];
};
