import { compareBytes } from '@stemma/canonical';
import type { Policy } from '@stemma/context-tree';
import { fail, isStemmaError } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { beginPending, withOwnPayloads } from '../apply-frame.ts';
import { branchTip, newRootBranch, requireBranch } from '../branch.ts';
import { commandDigest, type Command } from '../command.ts';
import type { Decide, Decided, DecidePending, DecidedPending } from '../contracts.ts';
import type { BranchState, HistoryState, Lookups, Sources } from '../state.ts';
import { specOf, type Step } from '../steps/catalogue.ts';
import { requireTip } from './branches.ts';
import { leadingEvents } from './intervene.ts';
import { record, type PendingFrame } from './pending-frame.ts';
import { withRedactions, type InsertedNodes } from './redact.ts';

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
  const { decided, pending } = decideEvents({ state, command, now, sources, inserted });
  return { decided: withRedactions(decided, command, inserted), pending };
};

type DecisionInput = {
  readonly state: HistoryState;
  readonly command: Command;
  readonly now: bigint;
  readonly sources: Sources & { readonly lookups: Lookups };
  readonly inserted: InsertedNodes;
};

const decideEvents = (input: DecisionInput): DecidedPending => {
  const { state, command, sources } = input;
  if (state.erased)
    throw fail('E_HISTORY_ERASED', `the history ${state.history} was erased`, { history: state.history });
  if (command.next !== undefined && command.next !== state.next)
    throw fail('E_CONFLICT', `the next frame of the history is ${state.next}, not ${command.next}`, {
      seq: state.next,
    });
  refuseAfterSnapshot(command.steps);
  const events = leadingEvents(command);
  const [first] = command.steps as [Step, ...Step[]];
  const { on } = specOf(first);
  if (on === 'the start') return decideStart(input, first, events);
  if (state.next === 0)
    throw fail('E_HISTORY_NOT_FOUND', `there is no history ${state.history}`, { history: state.history });
  if (on !== 'its branch') return decideBesideBranches(input, first, events);
  const branch = requireBranch(state, command.branchId, sources);
  refuseMoved(command, branch.seq);
  return onBranch(input, branch, openPending(input, events), (pending) => {
    decideSteps(pending, command.steps, input.inserted);
  });
};

/** @throws E_CONFLICT if the tip is not the expected one */
const refuseMoved = ({ expected }: Command, seq: number): void => {
  if (expected !== undefined && expected !== seq)
    throw fail('E_CONFLICT', `the tip of the branch is frame ${seq}, not ${expected}`, { seq });
};

/**
 * A snapshot is the position after its frame, so steps that change the tree or the configuration must not follow it in
 * the same command.
 */
const refuseAfterSnapshot = (steps: readonly Step[]): void => {
  const snapshot = steps.findIndex((step) => specOf(step).snapshot === true);
  if (snapshot === -1) return;
  const offending = steps.slice(snapshot + 1).find((step) => specOf(step).afterSnapshot !== true);
  if (offending !== undefined)
    throw fail(
      'E_COMMAND_INVALID',
      `${offending.op} comes after a commit or an import: put it into the next command`,
    );
};

/** The first event of the first step makes the branch that all others change. */
const decideStart = (input: DecisionInput, first: Step, events: HistoryEvent[]): DecidedPending => {
  const { state, command } = input;
  if (state.next !== 0)
    throw fail('E_HISTORY_EXISTS', `the history ${state.history} already exists`, { history: state.history });
  if (command.branchId !== 0) throw fail('E_COMMAND_INVALID', 'a history must start in branch 0');
  const frame = openPending(input, events);
  const decided = specOf(first).decide(frame.pending, first)[Symbol.iterator]();
  const { value: event } = decided.next() as IteratorYieldResult<HistoryEvent>;
  if (event.type !== 'HistoryStarted')
    throw fail('E_INTERNAL', `${first.op} starts a history with ${event.type}`);
  events.push(event);
  return onBranch(input, newRootBranch(event.ids, event.thread, event.cycle), frame, (pending) => {
    for (let next = decided.next(); next.done !== true; next = decided.next()) record(pending, next.value);
    decideSteps(pending, command.steps, input.inserted, 1);
  });
};

/** The events of a step that changes no branch that there is: it starts another one, or touches none. */
const decideBesideBranches = (input: DecisionInput, step: Step, events: HistoryEvent[]): DecidedPending => {
  const { state, command } = input;
  const spec = specOf(step);
  const { pending } = openPending(input, events);
  refuseMoved(command, requireTip(pending).seq);
  const decided = [...events, ...spec.decide(pending, step)];
  const branchId = spec.on === 'a new branch' ? state.next : command.branchId;
  return { decided: { branchId, events: decided, repeats: null }, pending: null };
};

type Opened = { readonly pending: PendingFrame; readonly changes: (branch: BranchState) => void };

/** @param events those that lead the frame; what is decided is added */
const openPending = ({ state, command, now, sources }: DecisionInput, events: HistoryEvent[]): Opened => {
  let changed: BranchState | null = null;
  const pending: PendingFrame = {
    get branch(): BranchState {
      if (changed === null)
        throw fail('E_INTERNAL', 'a step asks for a branch that its frame does not change');
      return changed;
    },
    history: state.history,
    branchId: command.branchId,
    seq: state.next,
    clock: command.at_ns ?? now,
    time: null,
    events,
    sources: withOwnPayloads(sources, state.next, events),
    lookups: sources.lookups,
    ids: new Set(),
    names: new Set(),
    command: command.id,
    tipOf: (branchId) => branchTip(state, branchId, sources),
  };
  return { pending, changes: (branch) => (changed = branch) };
};

/** Calls `work`, which adds events to the branch's own tree; restores the tree if it throws. */
const onBranch = (
  { state }: DecisionInput,
  branch: BranchState,
  { pending, changes }: Opened,
  work: (pending: PendingFrame) => void,
): DecidedPending => {
  const { policy, branchId } = branch;
  const decision = beginPending(state, branch, state.next === 0);
  changes(branch);
  try {
    work(pending);
  } catch (error) {
    decision.drop();
    throw isStemmaError(error, 'E_HISTORY_DEFECTIVE')
      ? fail('E_INTERNAL', `a decided event does not apply: ${error.message}`)
      : error;
  }
  return {
    decided: { branchId, events: withPolicyBefore(pending.events, policy), repeats: null },
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

/** @param from the index of the first step that is not decided yet */
const decideSteps = (
  pending: PendingFrame,
  steps: readonly Step[],
  inserted: InsertedNodes,
  from = 0,
): void => {
  for (let i = from; i < steps.length; i++) {
    const step = steps[i] as Step;
    const { on, decide: eventsOf } = specOf(step);
    if (on === 'the start')
      throw fail('E_COMMAND_INVALID', 'a history must start with the first step of its first command');
    const ids: string[] = [];
    for (const event of eventsOf(pending, step)) {
      record(pending, event);
      if (event.type === 'NodeInserted') ids.push(event.node.id);
    }
    if (ids.length > 0) inserted.set(i, ids);
  }
};
