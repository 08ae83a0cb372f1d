import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import type { Command, StepOf } from '../command.ts';
import { checkName } from '../history-id.ts';
import { standingOf } from '../lineage.ts';
import type { Decided } from '../signatures.ts';
import type { HistoryState, Lookups, Sources, Standing } from '../state.ts';
import { checkNotes } from '../texts.ts';

type Branching = StepOf<'fork'> | StepOf<'rollback'>;
type At = { readonly strand: number; readonly seq: number };

/**
 * A lineage goes on from a position (context-tree §5): a fork from any of the history, a rollback from an earlier one of
 * the lineage's chain, and then the lineage's name goes with it. Costs the same whatever the tree's size.
 *
 * @throws E_LINEAGE_NOT_FOUND, E_CONFLICT, E_SNAPSHOT_NOT_FOUND, E_NOT_ON_CHAIN, E_NAME_INVALID, E_NAME_TAKEN
 */
export const decideBranch = (
  state: HistoryState,
  command: Command,
  step: Branching,
  events: HistoryEvent[],
  sources: Sources & { readonly lookups: Lookups },
): Decided => {
  const from = standingAt(state, command, sources);
  const strand = state.next;
  const { lookups } = sources;
  if (step.op === 'fork') {
    const at = step.at ?? { strand: from.strand, seq: from.seq };
    refuseMissing(state, at, sources);
    const name = newName(step.name ?? null, lookups);
    events.push({
      type: 'LineageStarted',
      how: 'fork',
      parent: at.strand,
      at: at.seq,
      name,
      abandoned: null,
    });
  } else {
    refuseMissing(state, step.to, sources);
    refuseForeign(state, from, step.to, sources);
    const abandoned = newName(step.abandoned ?? null, lookups);
    const { strand: parent, name } = from;
    events.push({ type: 'LineageStarted', how: 'rollback', parent, at: step.to.seq, name, abandoned });
  }
  if (step.description !== undefined && step.description !== '')
    events.push({
      type: 'PositionAnnotated',
      strand,
      seq: strand,
      note: checkNotes(step.description, 'the description'),
    });
  return { lineage: strand, events, repeats: null };
};

/**
 * Where the command's lineage stands.
 *
 * @throws E_LINEAGE_NOT_FOUND; E_CONFLICT if it is not where the command expects it.
 */
export const standingAt = (state: HistoryState, command: Command, sources: Sources): Standing => {
  const from = standingOf(state, command.lineage, sources);
  if (from === undefined)
    throw fail('E_LINEAGE_NOT_FOUND', `the history ${state.history} has no lineage ${command.lineage}`, {
      history: state.history,
      lineage: command.lineage,
    });
  refuseMoved(command, from.seq);
  return from;
};

/** @throws E_CONFLICT */
export const refuseMoved = ({ expected }: Command, seq: number): void => {
  if (expected !== undefined && expected !== seq)
    throw fail('E_CONFLICT', `the lineage stands at ${seq}, not at ${expected}`, { seq });
};

/** @throws E_SNAPSHOT_NOT_FOUND if there is no such position */
export const refuseMissing = (state: HistoryState, { strand, seq }: At, sources: Sources): void => {
  if (seq >= state.next || strand >= state.next || standingOf(state, strand, sources) === undefined)
    throw fail('E_SNAPSHOT_NOT_FOUND', `there is no position ${seq} of the lineage ${strand}`, {
      strand,
      seq,
    });
};

const refuseForeign = (state: HistoryState, from: Standing, to: At, sources: Sources): void => {
  let [lineage, limit]: [Standing | undefined, number] = [from, from.seq];
  while (lineage !== undefined) {
    if (lineage.strand === to.strand && to.seq <= limit) return;
    if (lineage.parent === null) break;
    limit = Math.min(limit, lineage.parent.at);
    lineage = standingOf(state, lineage.parent.strand, sources);
  }
  throw fail(
    'E_NOT_ON_CHAIN',
    `position ${to.seq} of the lineage ${to.strand} is no past of the lineage ${from.strand}`,
    {
      ...to,
      lineage: from.strand,
    },
  );
};

/** A name for a lineage: not digits alone, which would be a strand. */
const newName = (name: string | null, lookups: Lookups): string | null => {
  if (name === null) return null;
  if (/^[0-9]+$/.test(checkName(name)))
    throw fail('E_NAME_INVALID', `${name} is a number: a lineage is reached by it already`, { name });
  if (lookups.lineageNamed(name) !== undefined)
    throw fail('E_NAME_TAKEN', `${name} names a lineage already`, { name });
  return name;
};
