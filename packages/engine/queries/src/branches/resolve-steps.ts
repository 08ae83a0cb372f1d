import { fail } from '@stemma/errors';
import type { HistoryEvent, BranchPosition } from '@stemma/events';
import {
  STEPS,
  type AnyStepSpec,
  type RecordedEvents,
  type RecordedPosition,
  type Step,
  type StepOf,
} from '@stemma/history';
import { branchRefOf, findCommand, type BranchRef, type Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { findBranch } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { parseRef } from '@stemma/selectors';
import { findBranchIn } from '../find-branch.ts';

/** Loads a position: by a rollback if it is in the branch's past, else by a fork. */
export type LoadStep = {
  readonly op: 'load';
  readonly from: string;
  readonly name: string | null;
  readonly description?: string;
};

/** A step whose positions may still be references (`@t-1`); the parser of the command checks its form. */
export type UnresolvedStep = { readonly op: string } & { readonly [key: string]: unknown };

export type StepResolver = {
  readonly projection: Projection;
  readonly position: (branchRef: BranchRef, ref: string) => Promise<Position>;
  readonly howToContinue: (
    branchRef: BranchRef,
    position: Position,
  ) => Promise<'current' | 'rollback' | 'fork'>;
};

/**
 * The branch and the positions that a command refers to, in rows that are as new as when the branch was found. For a command that was accepted before they are those of that
 * time: a rollback may have moved the name since, and `@t-1` may be another snapshot now. So a repeated command is the
 * same command.
 *
 * @throws what resolving a reference throws; E_USAGE for a load of the branch's current position
 */
export const resolveSteps = async (
  resolver: StepResolver,
  found: BranchRef,
  command: string,
  steps: readonly UnresolvedStep[],
): Promise<{ readonly branchRef: BranchRef; readonly steps: readonly Step[] }> => {
  const { projection, position, howToContinue } = resolver;
  const seq = (await projection.read((rows) => findCommand(rows, found.history, command)))?.seq;
  const done: Step[] = [];
  if (seq === undefined) {
    const currentPosition = async (ref: string): Promise<BranchPosition> =>
      positionKeyOf(await position(found, ref));
    for (const step of steps) {
      if (!isLoad(step)) done.push((await withPositions(step, currentPosition)) as Step);
      else
        done.push(
          stepOfLoad(
            step,
            await howToContinue(found, await position(found, step.from)),
            await currentPosition(step.from),
          ),
        );
    }
    return { branchRef: found, steps: done };
  }
  const events = await projection.payloads.events(found.history, seq);
  const branchRef = await projection.read((rows) => branchAsOf(rows, found, seq));
  const recorded = openRecordedPositions(events);
  for (const step of steps) {
    const own = recorded(step);
    const earlierPosition = (ref: string): Promise<BranchPosition> =>
      recordedPosition(resolver, branchRef, seq, ref, own);
    if (!isLoad(step)) done.push((await withPositions(step, earlierPosition)) as Step);
    else done.push(stepOfLoad(step, own?.how ?? 'fork', await earlierPosition(step.from)));
  }
  return { branchRef, steps: done };
};

/** True if the steps need no look-up: no position is a reference, and no load leaves fork or rollback open. */
export const areResolved = (steps: readonly UnresolvedStep[]): boolean =>
  !steps.some((step) => isLoad(step) || typeof step[referenceIn(step)?.field ?? ''] === 'string');

const isLoad = (step: UnresolvedStep): step is LoadStep => step.op === 'load';

const positionKeyOf = ({ branchId, seq }: BranchPosition): BranchPosition => ({ branchId, seq });

/** The branch that had the name when a frame was written: a later rollback may have passed the name on. */
const branchAsOf = (rows: RowReader, branchRef: BranchRef, seq: number): BranchRef => {
  let { branchId } = branchRef;
  while (branchId >= seq) {
    const row = findBranch(rows, branchRef.history, branchId);
    if (row?.how !== 'rollback' || row.parent === null) break;
    branchId = row.parent.branchId;
  }
  return branchId === branchRef.branchId ? branchRef : branchRefOf(branchRef.history, branchId);
};

/** The position that a reference meant: the recorded one if it counts from the newest, else what it still means. */
const recordedPosition = async (
  { projection, position }: StepResolver,
  branchRef: BranchRef,
  seq: number,
  ref: string,
  own: RecordedPosition | undefined,
): Promise<BranchPosition> => {
  const { branch, at } = parseRef(ref);
  if (own !== undefined && (at.kind === 't' || at.kind === 'working'))
    return own.how === 'rollback'
      ? positionKeyOf(await position(branchRef, `@s${own.seq}`))
      : positionKeyOf(own);
  const named = await projection.read((rows) => {
    const known = branch === null ? undefined : findBranchIn(rows, branchRef.history, branch);
    return known && branchAsOf(rows, known, seq);
  });
  return positionKeyOf(
    await (named === undefined ? position(branchRef, ref) : position(named, ref.slice(branch?.length ?? 0))),
  );
};

/** The positions that a frame's events name, one step after the other. */
const openRecordedPositions = (
  events: readonly HistoryEvent[],
): ((step: UnresolvedStep) => RecordedPosition | undefined) => {
  const left = [...events];
  const next = ((type) => {
    const at = left.findIndex((event) => event.type === type);
    return at === -1 ? undefined : left.splice(at, 1)[0];
  }) as RecordedEvents;
  return (step) => referenceIn(step)?.recorded(next, step as unknown as Step);
};

/** Where a step may hold a reference; a load is the rollback or the fork that it becomes. */
const referenceIn = ({ op }: UnresolvedStep): AnyStepSpec['reference'] =>
  STEPS.get(op === 'load' ? 'fork' : op)?.reference;

/** The step with positions in place of references. */
const withPositions = async (
  step: UnresolvedStep,
  resolve: (ref: string) => Promise<BranchPosition>,
): Promise<UnresolvedStep> => {
  const field = referenceIn(step)?.field ?? '';
  const ref = step[field];
  return typeof ref === 'string' ? { ...step, [field]: await resolve(ref) } : step;
};

const stepOfLoad = (
  { from, name, description }: LoadStep,
  how: string,
  at: BranchPosition,
): StepOf<'fork'> | StepOf<'rollback'> => {
  if (how === 'current') throw fail('E_USAGE', `the branch is already at ${from}: there is nothing to load`);
  const descriptionField = description === undefined ? {} : { description };
  return how === 'rollback'
    ? { op: 'rollback', to: at, ...descriptionField }
    : { op: 'fork', at, name, ...descriptionField };
};
