import {
  embedText,
  poolRun,
  seededRandom,
  type Random,
  type RecordedRound,
  type RecordedRun,
  type RunStep,
  type ShownMessage,
} from '@stemma/analysis';

/** What one arm does otherwise than the other. */
export type Planted = { readonly decisions: boolean; readonly wording: boolean };

/** Something that writes runs for an experiment. */
export type Simulator = (random: Random, planted: Planted, name: string) => RecordedRun;

const normal = ({ unit }: Random): number =>
  Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit());

const word = (kind: string, number: number): string =>
  `${kind}${String.fromCharCode(97 + (number % 26))}${number}`;
const words = (random: Random, kind: string, of: number, count: number): string[] =>
  Array.from({ length: count }, () => word(kind, random.below(of)));

/** The share of choices that differ where decisions are planted: a quarter, the size that docs/analysis.md names. */
const MOVED = 0.25;

const ACTIONS = [0.35, 0.15, 0.2, 0.12, 0.1, 0.08] as const;

/** How much runs of one arm differ by chance: the deviation of the logarithm of each likelihood. */
const BETWEEN_RUNS = 0.2;

/** Picks a number by its weight. */
const pick = ({ unit }: Random, weights: readonly number[]): number => {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let left = unit() * total;
  for (const [i, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return i;
  }
  return weights.length - 1;
};

/** A text about something: its own words, and some that any text has. Planted wording has others of the latter. */
const say = (random: Random, about: readonly string[], { wording }: Planted): string => {
  const filler = wording ? 'other' : 'plain';
  const parts = [...about, ...words(random, filler, 12, 3), ...words(random, 'plain', 12, 3)];
  return `${parts.join(' ')}${wording ? ', indeed!' : '.'}`;
};

/** An agent that calls one of six tools in each of its steps and says why. */
export const agent =
  (steps: number): Simulator =>
  (random, planted, name) => {
    const base = ACTIONS.map(
      (share, i) => share + (planted.decisions ? (i === 0 ? -MOVED : i === 1 ? MOVED : 0) : 0),
    );
    const weights = base.map((share) => share * Math.exp(BETWEEN_RUNS * normal(random)));
    return {
      name,
      steps: Array.from({ length: steps }, (): RunStep => {
        const action = pick(random, weights);
        const argument = random.below(3);
        const text = say(random, words(random, `topic${action}x`, 8, 4), planted);
        return {
          choices: {
            action: [`tool${action}`],
            'action with arguments': [`tool${action} ${argument}`],
            'stop reason': ['tool_calls'],
          },
          texts: [{ about: `tool${action}`, text }],
        };
      }),
    };
  };

const TOPICS = 8;
const PER_TOPIC = 4;
const SHOWN = 5;
const ACTIVE = 40;

/** The messages that every simulated pool begins with. */
const seeds: ReadonlyMap<string, ShownMessage & { readonly text: string; readonly topic: number }> = new Map(
  Array.from({ length: TOPICS * PER_TOPIC }, (_, i) => {
    const random = seededRandom(1_000 + i);
    const topic = i % TOPICS;
    const text = `${words(random, `topic${topic}x`, 8, 6).join(' ')} ${words(random, 'plain', 12, 3).join(' ')}.`;
    return [
      `seed${i}`,
      { key: `seed${i}`, cluster: `topic${topic}`, vector: embedText(text), text, topic },
    ] as const;
  }),
);

/** A pool whose minds take up one of five messages that they are shown; planted decisions like half of the topics better. */
export const pool =
  (rounds: number): Simulator =>
  (random, planted, name) => {
    const liking = Array.from({ length: TOPICS }, (_, topic) =>
      Math.exp(BETWEEN_RUNS * normal(random) + (planted.decisions && topic < TOPICS / 2 ? 1.2 : 0)),
    );
    const messages = [...seeds].map(([id, { text, topic }]) => ({ id, text, topic }));
    const recorded = Array.from({ length: rounds }, (_, round): RecordedRound => {
      const active = messages.slice(-ACTIVE);
      const sampled = Array.from({ length: SHOWN }, () => active.splice(random.below(active.length), 1)[0]!);
      const { topic, text: chosen } =
        sampled[
          pick(
            random,
            sampled.map((message) => liking[message.topic]!),
          )
        ]!;
      const own = chosen.split(/[^a-z0-9]+/).filter((part) => part.startsWith('topic'));
      const about = Array.from(
        { length: 5 },
        () => own[random.below(own.length)] ?? word(`topic${topic}x`, random.below(8)),
      );
      const text = say(random, about, planted);
      const added = { id: `round${round}`, text, vector: embedText(text) };
      messages.push({ id: added.id, text, topic });
      return { sampled: sampled.map(({ id }) => id), added: [added], stop: 'stop' };
    });
    return poolRun(name, recorded, seeds);
  };
