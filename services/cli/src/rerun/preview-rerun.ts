import { sumOfPrices, type CallPrice } from '@stemma/model-apis';
import type { Recording, RecordedConversation } from '@stemma/rerun';
import { printable } from '../output.ts';
import { commandText } from '../program-runs.ts';
import type { OftenAsked } from './often/often-options.ts';
import type { PreparedRerun } from './prepare-rerun.ts';

/** Recorded calls, and what they took; null: not known of all of them. */
type CallSum = { readonly calls: number; readonly tokens: number | null; readonly cost: CallPrice | null };

/** What a rerun would do. */
export type RerunPreview = {
  readonly command: readonly string[];
  readonly directory: string;
  readonly times: number;
  /** What becomes of calls that differ. */
  readonly onDifference: 'stop' | 'serve' | 'live';
  /** Calls that the recording answers, and those that stand where calls go to their provider: for one run. */
  readonly served: CallSum;
  readonly live: CallSum;
  readonly check: string | null;
};

/** What the rerun of a run would do, by what its calls took when they were recorded. */
export const previewOf = (
  { run, judged, toStart, check }: PreparedRerun,
  often: Pick<OftenAsked, 'times' | 'models' | 'control'> | null,
): RerunPreview => {
  const live = liveLabels(run.recording, judged.from);
  const sum = (isLive: boolean): CallSum => {
    const cycles = run.recording.conversations
      .flatMap(({ cycles: all }) => all)
      .filter(({ label }) => live.has(label) === isLive);
    const attempts = cycles.flatMap((cycle) => cycle.attempts.map(({ id }) => run.attempts.get(id)));
    const answered = attempts.filter((attempt) => attempt?.status === 'answered');
    const tokens = cycles.map((cycle) => cycle.tokens);
    return {
      calls: cycles.length,
      tokens: tokens.reduce<number | null>(
        (all, each) => (all === null || each === null ? null : all + each),
        0,
      ),
      cost: sumOfPrices(answered.map((attempt) => attempt?.cost ?? null)),
    };
  };
  const arms = Math.max(1, often?.models.length ?? 1) + (often?.control === true ? 1 : 0);
  return {
    command: toStart.words,
    directory: toStart.directory,
    times: (often?.times ?? 1) * arms,
    onDifference: judged.onDifference,
    served: sum(false),
    live: sum(true),
    check,
  };
};

/** The calls from the given ones on, in their conversations and in those that they lead to. */
const liveLabels = ({ conversations }: Recording, from: readonly string[]): ReadonlySet<string> => {
  const live = new Set<string>();
  const begins = ({ from: before, parent }: RecordedConversation): boolean =>
    (before !== null && live.has(before)) || (parent !== null && live.has(parent.call));
  // Conversations are in the order in which they began: what leads to one comes before it.
  for (const conversation of conversations) {
    let isLive = begins(conversation);
    for (const { label } of conversation.cycles) {
      isLive ||= from.includes(label);
      if (isLive) live.add(label);
    }
  }
  return live;
};

/** A preview in sentences. */
export const previewText = (preview: RerunPreview): string => {
  const { command, directory, times, onDifference, served, live, check } = preview;
  const often = times === 1 ? '' : ` ${times} times`;
  const lines = [
    `would run ${commandText(command)} in ${printable(directory)}${often}; nothing has run`,
    `${callsText(served)} answered from the recording: no provider is asked for them`,
    live.calls === 0
      ? 'no call goes to a provider by itself'
      : `${callsText(live).replace(/ (is|are)$/, '')} would go to their provider${often}; recorded, they took ${tookText(live)} each time`,
    ...(onDifference === 'live'
      ? [
          `a call that differs goes to its provider, and so do those after it: at most ${tookText(sumOf(served, live))}, as recorded`,
        ]
      : []),
    ...(check === null ? [] : [`then ${printable(check)} checks what it left behind`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
};

const callsText = ({ calls }: CallSum): string => `${calls} recorded call${calls === 1 ? ' is' : 's are'}`;

const tookText = ({ tokens, cost }: CallSum): string =>
  [
    tokens === null ? 'an unknown number of tokens' : `${tokens} tokens`,
    cost === null ? 'at a price that is not known' : `for ${cost.amount} ${cost.currency}`,
  ].join(' ');

const sumOf = (a: CallSum, b: CallSum): CallSum => ({
  calls: a.calls + b.calls,
  tokens: a.tokens === null || b.tokens === null ? null : a.tokens + b.tokens,
  cost: a.calls === 0 ? b.cost : b.calls === 0 ? a.cost : sumOfPrices([a.cost, b.cost]),
});
