import type { HistoryEvent } from '@stemma/events';
import type { Command } from '../command.ts';
import type { Decided } from '../contracts.ts';

/** The ids of the nodes that each step inserts, by the index of the step, in order. */
export type InsertedNodes = Map<number, readonly string[]>;

type RecordedRedaction = Extract<HistoryEvent, { type: 'ContentRedacted' }>['redactions'][number];

/** Adds what was taken out of the command as the last event, with the nodes by their ids. */
export const withRedactions = (
  decided: Decided,
  { redactions = [] }: Command,
  inserted: InsertedNodes,
): Decided => {
  if (redactions.length === 0) return decided;
  const merged = new Map<string, RecordedRedaction>();
  for (const { step, node: given, field, rule, count } of redactions) {
    const node = typeof given === 'number' ? (inserted.get(step ?? -1)?.[given] ?? null) : given;
    const key = JSON.stringify([rule, node, field]);
    merged.set(key, { rule, node, field, count: (merged.get(key)?.count ?? 0) + count });
  }
  return {
    ...decided,
    events: [...decided.events, { type: 'ContentRedacted', redactions: [...merged.values()] }],
  };
};
