import type { AnswerOf, DecisionAnswer, DecisionPairAnswer, QUESTIONS } from '@stemma/api';
import { oneLine, table } from './output.ts';

type Found = AnswerOf<typeof QUESTIONS.decisions>;

const WORDS: Readonly<Record<DecisionPairAnswer['how'], string>> = {
  same: '=',
  words: 'other words',
  arguments: 'other arguments',
  tool: 'other tool',
  'only-a': 'only in A',
  'only-b': 'only in B',
};

/** Pairs of decisions as a table, a mark before the first that decides otherwise. */
export const describeDecisions = (
  { a, b, pairs, total, counts, first, next }: Found,
  width: number,
): string => {
  const most = Math.max(16, Math.min(48, Math.floor((width - 30) / 2)));
  const counted = (Object.keys(WORDS) as DecisionPairAnswer['how'][])
    .filter((how) => counts[how] > 0)
    .map((how) => `${counts[how]} ${how === 'same' ? 'same' : WORDS[how]}`);
  return [
    `A ${a.branch}: ${a.calls} calls; B ${b.branch}: ${b.calls} calls\n`,
    total === 0 ? 'no call is recorded on either side\n' : `${counted.join(', ')}\n`,
    first === null
      ? ''
      : `the first different decision: ${labelsOf(pairs[first] ?? { how: 'same', a: null, b: null })}\n`,
    '\n',
    table(
      ['', 'A', 'DECIDED', '', 'B', 'DECIDED'],
      pairs.map((pair, i) => [
        i === first ? '>' : '',
        pair.a?.label ?? '',
        wordsOf(pair.a, most),
        WORDS[pair.how],
        pair.b?.label ?? '',
        wordsOf(pair.b, most),
      ]),
      width,
    ),
    next === null ? '' : `\n${pairs.length} of ${total}: --json over HTTP pages through the rest\n`,
  ].join('');
};

const labelsOf = ({ a, b }: DecisionPairAnswer): string =>
  [a === null ? '' : `${a.label} of A`, b === null ? '' : `${b.label} of B`]
    .filter((each) => each !== '')
    .join(', ');

const wordsOf = (decision: DecisionAnswer | null, width: number): string => {
  if (decision === null) return '-';
  const { what, text, calls } = decision;
  if (calls.length === 0) return oneLine(what === '' ? 'not recorded' : `answer  ${text}`, width);
  return oneLine(
    calls.map(({ name, input, failed }) => `${failed ? '✕ ' : ''}${name} ${input}`).join(', '),
    width,
  );
};
