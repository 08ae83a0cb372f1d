import { compareBytes } from '@stemma/canonical';
import type { Policy } from '@stemma/context-tree';
import { fail, isStemmaError } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { beginPending, withOwnPayloads } from '../apply-frame.ts';
import { branchTip, requireBranch } from '../branch.ts';
import { commandDigest, type Command, type Step } from '../command.ts';
import type { Decide, Decided, DecidePending, DecidedPending } from '../contracts.ts';
import type { BranchState, HistoryState, Lookups, Sources } from '../state.ts';
import { decideBranch, refuseMoved } from './branch.ts';
import {
  decideFinishCall,
  decideHoldCall,
  decideReassignCall,
  decideReleaseCall,
  decideStartCall,
} from './calls.ts';
import { decideCommit } from './commit.ts';
import {
  decideAnnotate,
  decideConfig,
  decideName,
  decidePolicy,
  decideSave,
  positionOf,
} from './configure.ts';
import { decideMove, decidePriorities, decideRemove, decideReplace } from './edit.ts';
import { decideInject } from './inject.ts';
import { decideInsert } from './insert.ts';
import { leadingEvents } from './intervene.ts';
import { decideObserve } from './observe.ts';
import { emit, type PendingFrame } from './pending-frame.ts';
import { withRedactions, type InsertedNodes } from './redact.ts';
import { decideRun } from './run.ts';
import { importPlan, newHistory } from './start.ts';
import { decideVectors } from './vectors.ts';

export const decide: Decide = (state, command, now, sources) =>
  findRepeated(command, sources.lookups) ?? decideNew(state, command, now, sources);

/**
 * The frame that answers a repeated command; null for a new command (record §3: commands remembered).
 *
 * @throws E_COMMAND_REUSED if the id belongs to another command
 */
export const findRepeated = (command: Command, lookups: Pick<Lookups, 'command'>): Decided | null => {
  const before = lookups.command(command.id);
  if (before === undefined) return null;
  if (compareBytes(before.digest, commandDigest(command)) !== 0)
    throw fail('E_COMMAND_REUSED', `the command id ${command.id} belongs to another command`, {
      command: command.id,
    });
  return { branchId: command.branchId, events: [], repeats: before.seq };
};

/** As {@link decide}, for a command that repeats no other. */
export const decideNew: Decide = (state, command, now, sources) => {
  const { decided, pending } = decidePending(state, command, now, sources);
  pending?.drop();
  return decided;
};

/** As {@link decideNew}, for a caller who applies what is decided. */
export const decidePending: DecidePending = (state, command, now, sources) => {
  const inserted: InsertedNodes = new Map();
  const { decided, pending } = decideEvents(state, command, now, sources, inserted);
  return { decided: withRedactions(decided, command, inserted), pending };
};

const erased = (history: string): Error =>
  fail('E_HISTORY_ERASED', `the history ${history} was erased`, { history });

const decideEvents = (
  state: HistoryState,
  command: Command,
  now: bigint,
  sources: Sources & { readonly lookups: Lookups },
  inserted: InsertedNodes,
): DecidedPending => {
  if (state.erased) throw erased(state.history);
  if (command.next !== undefined && command.next !== state.next)
    throw fail('E_CONFLICT', `the next frame of the history is ${state.next}, not ${command.next}`, {
      seq: state.next,
    });
  const clock = command.at_ns ?? now;
  refuseAfterSnapshot(command.steps);
  const events = leadingEvents(command);
  const [first] = command.steps;
  if (first?.op === 'start' || first?.op === 'import')
    return decideStart(state, command, clock, { sources, inserted }, events);
  if (state.next === 0)
    throw fail('E_HISTORY_NOT_FOUND', `there is no history ${state.history}`, { history: state.history });
  if (first?.op === 'fork' || first?.op === 'rollback')
    return { decided: decideBranch(state, command, first, events, sources), pending: null };
  if (first?.op === 'observe')
    return { decided: decideObserve(state, command, first, events, sources), pending: null };
  const branch = requireBranch(state, command.branchId, sources);
  refuseMoved(command, branch.seq);
  return withPendingFrame({ state, branch, clock, sources, command: command.id }, events, (pending) => {
    decideSteps(pending, command.steps, 0, inserted);
  });
};

/** Steps that change neither the tree nor the configuration. */
const AFTER_SNAPSHOT: ReadonlySet<Step['op']> = new Set([
  'name',
  'annotate',
  'save',
  'start_call',
  'finish_call',
]);

/**
 * A snapshot is the position after its frame, so steps that change the tree or the configuration must not follow it in
 * the same command.
 */
const refuseAfterSnapshot = (steps: readonly Step[]): void => {
  const snapshot = steps.findIndex(({ op }) => op === 'commit' || op === 'import');
  if (snapshot === -1) return;
  const offending = steps.slice(snapshot + 1).find(({ op }) => !AFTER_SNAPSHOT.has(op));
  if (offending !== undefined)
    throw fail(
      'E_COMMAND_INVALID',
      `${offending.op} comes after a commit or an import: put it into the next command`,
    );
};

const decideStart = (
  state: HistoryState,
  command: Command,
  clock: bigint,
  {
    sources,
    inserted,
  }: { readonly sources: Sources & { lookups: Lookups }; readonly inserted: InsertedNodes },
  events: HistoryEvent[],
): DecidedPending => {
  const [first, ...rest] = command.steps;
  if (first?.op !== 'start' && first?.op !== 'import')
    throw fail('E_INTERNAL', 'the command has no step that starts a history');
  if (state.next !== 0)
    throw fail('E_HISTORY_EXISTS', `the history ${state.history} already exists`, { history: state.history });
  if (command.branchId !== 0) throw fail('E_COMMAND_INVALID', 'a history must start in branch 0');
  const { branch, event, plan } = newHistory(first);
  return withPendingFrame(
    { state, branch, clock, sources, command: command.id },
    [...events, event],
    (pending) => {
      if (plan !== null) importPlan(pending, plan);
      decideSteps(pending, rest, 1, inserted);
    },
  );
};

type DecisionInput = {
  readonly state: HistoryState;
  readonly branch: BranchState;
  readonly clock: bigint;
  readonly sources: Sources & { readonly lookups: Lookups };
  readonly command: string;
};

/** Calls `work`, which adds events to the branch's own tree; restores the tree if it throws. */
const withPendingFrame = (
  { state, branch, clock, sources, command }: DecisionInput,
  events: HistoryEvent[],
  work: (pending: PendingFrame) => void,
): DecidedPending => {
  const policy = branch.policy;
  const decision = beginPending(state, branch, state.next === 0);
  const own = withOwnPayloads(sources, state.next, events);
  const pending: PendingFrame = {
    branch,
    seq: state.next,
    clock,
    time: null,
    events,
    sources: own,
    lookups: sources.lookups,
    ids: new Set(),
    names: new Set(),
    command,
    tipOf: (branchId) => branchTip(state, branchId, sources),
  };
  try {
    work(pending);
  } catch (error) {
    decision.drop();
    throw isStemmaError(error, 'E_HISTORY_DEFECTIVE')
      ? fail('E_INTERNAL', `a decided event does not apply: ${error.message}`)
      : error;
  }
  const { branchId } = branch;
  return {
    decided: { branchId, events: withPolicyBefore(events, policy), repeats: null },
    pending: decision,
  };
};

/** Adds the previous policy to the intervention, because no other event records it. */
const withPolicyBefore = (events: HistoryEvent[], policy: Policy | null): HistoryEvent[] => {
  const [first, ...rest] = events;
  if (first?.type !== 'InterventionRecorded' || !rest.some(({ type }) => type === 'PolicyConfigured'))
    return events;
  const before = policy === null ? null : { ...policy, pins: [...policy.pins] };
  return [{ ...first, content: { ...first.content, policy_before: before } }, ...rest];
};

/** @param from the index of the first of the steps in the command */
const decideSteps = (
  pending: PendingFrame,
  steps: readonly Step[],
  from: number,
  inserted: InsertedNodes,
): void => {
  steps.forEach((step, i) => {
    const before = pending.events.length;
    decideStep(pending, step);
    const ids: string[] = [];
    for (let at = before; at < pending.events.length; at++) {
      const event = pending.events[at] as HistoryEvent;
      if (event.type === 'NodeInserted') ids.push(event.node.id);
    }
    if (ids.length > 0) inserted.set(from + i, ids);
  });
};

const decideStep = (pending: PendingFrame, step: Step): void => {
  switch (step.op) {
    case 'start':
    case 'import':
      throw fail('E_COMMAND_INVALID', 'a history must start with the first step of its first command');
    case 'insert': {
      decideInsert(pending, step);
      return;
    }
    case 'replace': {
      decideReplace(pending, step);
      return;
    }
    case 'move': {
      decideMove(pending, step);
      return;
    }
    case 'remove': {
      decideRemove(pending, step);
      return;
    }
    case 'commit': {
      decideCommit(pending, step);
      return;
    }
    case 'policy': {
      decidePolicy(pending, step);
      return;
    }
    case 'priorities': {
      decidePriorities(pending, step);
      return;
    }
    case 'name': {
      decideName(pending, step);
      return;
    }
    case 'annotate': {
      decideAnnotate(pending, step);
      return;
    }
    case 'save': {
      decideSave(pending, step);
      return;
    }
    case 'config': {
      decideConfig(pending, step);
      return;
    }
    case 'inject': {
      decideInject(pending, step);
      return;
    }
    case 'start_call': {
      decideStartCall(pending, step);
      return;
    }
    case 'finish_call': {
      decideFinishCall(pending, step);
      return;
    }
    case 'reassign_call': {
      decideReassignCall(pending, step);
      return;
    }
    case 'link': {
      const { branchId } = positionOf(pending, undefined);
      emit(pending, { type: 'ConversationLinked', branchId, parent: step.parent });
      return;
    }
    case 'hold_call': {
      decideHoldCall(pending, step);
      return;
    }
    case 'release_call': {
      decideReleaseCall(pending, step);
      return;
    }
    case 'request_run':
    case 'take_run':
    case 'end_run': {
      decideRun(pending, step);
      return;
    }
    case 'record_vectors': {
      decideVectors(pending, step);
      return;
    }
    case 'erase':
      emit(pending, { type: 'HistoryErased' });
      return;
    case 'query':
    case 'run':
    case 'retell':
      // The intervention event records everything.
      return;
    case 'fork':
    case 'rollback':
    case 'observe':
      throw fail('E_COMMAND_INVALID', `${step.op} must be the only step of its command`);
  }
};
