import { countOf, type Field, objectOf } from './fields.ts';
import type { ForeignCall, ForeignItem, ForeignMessage } from './item.ts';

/** A file may say any number of calls; so many that it does not hold are recorded. */
const MOST_UNHELD = 10_000;

/**
 * The items of a conversation with as many calls as its file counts (`info.model_stats.api_calls`): of more answers the first ones were
 * not asked for in this run, so they are messages; of fewer, calls without an answer are added, such as tries whose answer was no action.
 *
 * @param stats null or 0 where the file does not count: every answer is a call
 */
export const withCountedCalls = (
  items: readonly ForeignItem[],
  stats: Field,
  model: string | null,
): readonly ForeignItem[] => {
  const wanted = countOf(objectOf(stats)['api_calls']) ?? 0;
  const held = items.filter(({ kind }) => kind === 'call').length;
  if (wanted === 0 || wanted === held) return items;
  if (wanted > held) return [...items, ...unheldCalls(wanted - held, model)];
  let surplus = held - wanted;
  return items.flatMap((item): readonly ForeignItem[] => {
    if (item.kind !== 'call' || surplus === 0) return [item];
    surplus -= 1;
    return item.answer === null ? [] : [asMessage(item)];
  });
};

const asMessage = ({ id, after, at, answer }: ForeignCall): ForeignMessage => ({
  kind: 'message',
  role: 'assistant',
  messages: answer === null ? [] : [answer],
  ...(id !== undefined && { id }),
  ...(after !== undefined && { after }),
  ...(at !== undefined && { at }),
});

/** Calls of which the file only says that they were made. */
export const unheldCalls = (count: number, model: string | null): readonly ForeignItem[] => {
  const held = Math.min(count, MOST_UNHELD);
  const calls = Array.from({ length: held }, (): ForeignItem => ({
    kind: 'call',
    model,
    answer: null,
    status: 'unknown',
    missing: ['messages', 'answer', 'tools', 'parameters', 'usage'],
  }));
  return held === count
    ? calls
    : [...calls, { kind: 'dropped', what: 'calls that are only counted', count: count - held }];
};
