import { checkId, completeIds, parseExport, type FixedIds, type ImportPlan } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { newRootBranch } from '../branch.ts';
import type { StepOf } from '../command.ts';
import { checkName } from '../history-id.ts';
import { joinNode } from '../recorded-node.ts';
import type { BranchState } from '../state.ts';
import { recordSnapshot } from './commit.ts';
import { emit, type PendingFrame } from './pending-frame.ts';

type StartStep = StepOf<'start'> | StepOf<'import'>;

/** The start of a history: its empty branch, the event, and for an import the nodes to insert. */
export type NewHistory = {
  readonly branch: BranchState;
  readonly event: Extract<PendingFrame['events'][number], { type: 'HistoryStarted' }>;
  readonly plan: ImportPlan | null;
};

/** @throws E_NAME_INVALID, E_COMMAND_INVALID, E_EXPORT_INVALID and the other errors of `parseExport` */
export const newHistory = (step: StartStep): NewHistory => {
  const plan = step.op === 'import' ? parseExport(step.export) : null;
  const ids = step.op === 'start' ? startIds(step) : (plan as ImportPlan).ids;
  const thread = step.thread ?? 'full';
  const cycle = plan?.cycle ?? 0;
  const event = {
    type: 'HistoryStarted',
    name: step.name === null ? null : checkName(step.name),
    ids,
    thread,
    cycle,
    source: step.source ?? null,
    salvaged: step.op === 'import' ? (step.salvaged ?? null) : null,
    ...(step.erasable === undefined ? {} : { erasable: step.erasable }),
  } as const;
  return { branch: newRootBranch(ids, thread, cycle), event, plan };
};

const startIds = (step: StepOf<'start'>): FixedIds => {
  const given = step.ids ?? {};
  const blame = { code: 'E_COMMAND_INVALID', what: 'the id of a region' } as const;
  for (const id of Object.values(given)) checkId(id, blame);
  if (new Set(Object.values(given)).size < Object.values(given).length)
    throw fail('E_COMMAND_INVALID', 'root and regions must have different ids');
  return completeIds(given as Partial<FixedIds>, () => false);
};

/** Inserts an exported state unchanged, as the snapshot of its own cycle (context-tree §10.17). */
export const importPlan = (pending: PendingFrame, plan: ImportPlan): void => {
  for (const node of plan.nodes) {
    const { parent, expires, ordinal } = node;
    pending.ids.add(node.headers.id);
    emit(pending, {
      type: 'NodeImported',
      parent,
      node: joinNode(node.headers, node.payload),
      expires,
      ...(ordinal === undefined ? {} : { ordinal }),
    });
  }
  recordSnapshot(pending, 'SnapshotImported', pending.branch.tree.cycle);
};
