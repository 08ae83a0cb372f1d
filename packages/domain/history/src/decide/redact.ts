import type { HistoryEvent } from '@stemma/events';
import type { Command } from '../command.ts';
import type { Decided } from '../contracts.ts';
import { specOf } from '../steps/catalogue.ts';

/** The ids of the nodes that each step inserts, by the index of the step, in order. */
export type InsertedNodes = Map<number, readonly string[]>;

type RecordedRedaction = Extract<HistoryEvent, { type: 'ContentRedacted' }>['redactions'][number];

/** The rule by which a body is not kept, since nobody could surely take secrets out of it. */
export const NOT_KEPT = 'not-kept';

/** The bodies of calls that the steps do not keep. */
const withheldBy = ({ steps }: Command): readonly RecordedRedaction[] =>
  steps.flatMap((step) =>
    (specOf(step).withheld?.(step) ?? []).map((field) => ({ rule: NOT_KEPT, node: null, field, count: 1 })),
  );

/** Adds what was taken out of the command as the last event, with the nodes by their ids. */
export const withRedactions = (decided: Decided, command: Command, inserted: InsertedNodes): Decided => {
  const { redactions = [] } = command;
  const withheld = withheldBy(command);
  if (redactions.length === 0 && withheld.length === 0) return decided;
  const merged = new Map<string, RecordedRedaction>();
  for (const { step, node: given, field, rule, count } of redactions) {
    const node = typeof given === 'number' ? (inserted.get(step ?? -1)?.[given] ?? null) : given;
    const key = JSON.stringify([rule, node, field]);
    merged.set(key, { rule, node, field, count: (merged.get(key)?.count ?? 0) + count });
  }
  return {
    ...decided,
    events: [...decided.events, { type: 'ContentRedacted', redactions: [...merged.values(), ...withheld] }],
  };
};
