import { toWireJson, type DecisionAnswer } from '@stemma/api';
import type { ShownDecision } from '@stemma/queries';
import type { ContractAnswer } from '../answer.ts';

const MOST_PAIRS = 2_000;
const MOST_CHARACTERS = 20_000;

export const decisions: ContractAnswer<'decisions'> = async (
  { home },
  { history, a, b, from = 0, limit = 500, excerpt = 2_000 },
) => {
  const found = await home.queries.audit.decisions(await home.find(history), a, b);
  const counts = { same: 0, words: 0, arguments: 0, tool: 0, 'only-a': 0, 'only-b': 0 };
  for (const { how } of found.pairs) counts[how]++;
  const end = from + Math.max(1, Math.min(limit, MOST_PAIRS));
  const characters = Math.min(excerpt, MOST_CHARACTERS);
  const answerOf = (one: ShownDecision | null): DecisionAnswer | null =>
    one && decisionAnswer(one, characters);
  return {
    a: { ...found.a },
    b: { ...found.b },
    total: found.pairs.length,
    counts,
    first: found.first,
    pairs: found.pairs
      .slice(from, end)
      .map((pair) => ({ how: pair.how, a: answerOf(pair.a), b: answerOf(pair.b) })),
    next: end < found.pairs.length ? end : null,
  };
};

const decisionAnswer = (
  { branchId, seq, cycle, what, text, calls }: ShownDecision,
  characters: number,
): DecisionAnswer => {
  const cut = (whole: string): string =>
    whole.length > characters ? `${whole.slice(0, characters).toWellFormed()}…` : whole;
  return {
    ...{ label: `@c${cycle}`, branchId, seq, cycle, what },
    text: cut(text),
    calls: calls.map(({ name, input, result, failed }) => ({
      ...{ name, failed },
      input: cut(toWireJson(input)),
      result: result === null ? null : cut(result),
    })),
  };
};
