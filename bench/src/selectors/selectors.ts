import { medianIfAny } from '../measure.ts';
import { probePeer } from '../peers/probe-peer.ts';
import { probe } from '../probe.ts';
import { figure, times, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import { questions, type Answered, type SelectorInput } from './shape.ts';

type Measured = {
  readonly nodes: number;
  readonly question: number;
  readonly own: Answered;
  readonly peer: Answered;
};

const PEER = 'selectors/css-select';

const measure = async (nodes: number, question: number, options: BenchmarkOptions): Promise<Measured> => {
  const of = async (name: string): Promise<Answered> => {
    const rounds: Answered[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const input: SelectorInput = { nodes, question, rounds: 15 };
      const found =
        name === PEER
          ? await probePeer<Answered>('css-select', name, input)
          : [await probe<Answered>(name, input)];
      rounds.push(...found.map(({ value }) => value));
    }
    const over = (take: (round: Answered) => number): number => medianIfAny(rounds.map(take));
    return {
      cold: over((round) => round.cold),
      warm: over((round) => round.warm),
      found: over((round) => round.found),
    };
  };
  const [own, peer] = [await of('selectors/stemma'), await of(PEER)];
  if (!Number.isNaN(peer.found) && own.found !== peer.found)
    throw new Error(`question ${question}: ${own.found} nodes, css-select ${peer.found}`);
  return { nodes, question, own, peer };
};

const asked = (question: number): string =>
  questions(2)[question]!.stemma.replace('@t0 ', '').replace(/^#.*/, '#id');

const aimsOf = (found: readonly Measured[], most: number, least: number): readonly Aim[] => [
  ...found
    .filter(({ nodes }) => nodes === most)
    .map(({ question, own, peer }) => ({
      what: `${asked(question)}, warm, against css-select`,
      aim: '≥ 10 ×',
      measured: times(peer.warm / own.warm),
      met: peer.warm / own.warm >= 10,
    })),
  ...[0, 1, 2].map((question) => {
    const of = (nodes: number): number =>
      found.find((one) => one.nodes === nodes && one.question === question)!.own.warm;
    const growth = of(most) / of(least);
    return {
      what: `${asked(question)}: ${figure(most)} against ${figure(least)} nodes`,
      aim: '≤ 2 ×',
      measured: times(growth),
      met: growth <= 2,
    };
  }),
];

/** What a question costs on a tree that was read, against css-select on a DOM of the same shape. */
export const selectors = async (options: BenchmarkOptions): Promise<Report> => {
  const sizes = options.quick ? [1_000, 10_000] : [10_000, 1_000_000];
  const found: Measured[] = [];
  for (const nodes of sizes)
    for (const question of questions(2).keys()) found.push(await measure(nodes, question, options));
  return {
    name: 'selectors',
    tables: [
      {
        title: 'Selectors: milliseconds an answer',
        columns: ['', 'nodes', 'found', 'warm', 'css-select', 'ratio', 'cold', 'css-select', 'ratio'],
        rows: found.map(({ nodes, question, own, peer }) => [
          `\`${asked(question)}\``,
          figure(nodes),
          figure(own.found),
          figure(own.warm),
          figure(peer.warm),
          times(peer.warm / own.warm),
          figure(own.cold),
          figure(peer.cold),
          times(peer.cold / own.cold),
        ]),
        notes: [
          'Cold: the first question that is asked of a tree in memory; nothing is indexed and no code is compiled. Warm: the median of 15 later ones. The selector is read each time, by both.',
          'css-select is asked of elements of domhandler; `:depth(1-3)` is three equalities on an attribute `depth` there that is written beforehand (counted with `:nth-last-child(-n+3)` it does not end within a minute at 1,000,000), `[ttl<=1]` two equalities.',
          `${options.rounds} rounds, each in a process of its own; medians.`,
        ],
      },
    ],
    aims: aimsOf(found, sizes.at(-1)!, sizes[0]!),
    figures: { measured: found },
  };
};
