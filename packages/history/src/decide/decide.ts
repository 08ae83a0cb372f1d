import { compareBytes } from '@stemma/canonical';
import type { Policy } from '@stemma/context-tree';
import { fail, isStemmaError } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { withOwnPayloads } from '../apply-frame.ts';
import { commandDigest, type Command, type Step } from '../command.ts';
import { lineageOf, scalarsOf, standingOf } from '../lineage.ts';
import type { Decide, Decided } from '../signatures.ts';
import type { HistoryState, LineageState, Lookups, Sources } from '../state.ts';
import { decideBranch, refuseMoved } from './branch.ts';
import { decideCommit } from './commit.ts';
import { decideAnnotate, decideConfig, decideName, decidePolicy, decideSave } from './configure.ts';
import type { Draft } from './draft.ts';
import { decideMove, decidePriorities, decideRemove, decideReplace } from './edit.ts';
import { decideInject } from './inject.ts';
import { decideInsert } from './insert.ts';
import { leadingEvents } from './intervene.ts';
import { decideObserve } from './observe.ts';
import { beginHistory, importPlan } from './start.ts';

export const decide: Decide = (state, command, now, sources) => {
  const { lookups } = sources;
  const clock = command.at_ns ?? now;
  const before = lookups.command(command.id);
  if (before !== undefined) {
    if (compareBytes(before.digest, commandDigest(command)) !== 0)
      throw fail('E_COMMAND_REUSED', `the command id ${command.id} was used for another command`, {
        command: command.id,
      });
    return { lineage: command.lineage, events: [], repeats: before.seq };
  }
  refuseBehindSnapshot(command.steps);
  const events = leadingEvents(command);
  const [first] = command.steps;
  if (first?.op === 'start' || first?.op === 'import')
    return decideBeginning(state, command, clock, sources, events);
  if (state.next === 0)
    throw fail('E_HISTORY_NOT_FOUND', `there is no history ${state.history}`, { history: state.history });
  if (first?.op === 'fork' || first?.op === 'rollback')
    return decideBranch(state, command, first, events, sources);
  if (first?.op === 'observe') return decideObserve(state, command, first, sources);
  const lineage = lineageOf(state, command.lineage, sources);
  refuseMoved(command, lineage.seq);
  return onDraft({ state, lineage, clock, sources, command: command.id }, events, (draft) => {
    for (const step of command.steps) decideStep(draft, step);
  });
};

/**
 * A snapshot is the position after its frame, so what changes the tree or the configuration cannot follow it in the same
 * command.
 */
const refuseBehindSnapshot = (steps: readonly Step[]): void => {
  const snapshot = steps.findIndex(({ op }) => op === 'commit' || op === 'import');
  if (snapshot === -1) return;
  const behind = steps
    .slice(snapshot + 1)
    .find(({ op }) => op !== 'name' && op !== 'annotate' && op !== 'save');
  if (behind !== undefined)
    throw fail(
      'E_COMMAND_INVALID',
      `${behind.op} stands behind a commit or an import: that is for the next command`,
    );
};

const decideBeginning = (
  state: HistoryState,
  command: Command,
  clock: bigint,
  sources: Sources & { lookups: Lookups },
  events: HistoryEvent[],
): Decided => {
  const [first, ...rest] = command.steps;
  if (first?.op !== 'start' && first?.op !== 'import') throw fail('E_INTERNAL', 'the command begins nothing');
  if (state.next !== 0)
    throw fail('E_HISTORY_EXISTS', `the history ${state.history} exists already`, { history: state.history });
  if (command.lineage !== 0) throw fail('E_COMMAND_INVALID', 'a history starts in lineage 0');
  const { lineage, event, plan } = beginHistory(first);
  return onDraft({ state, lineage, clock, sources, command: command.id }, [...events, event], (draft) => {
    if (plan !== null) importPlan(draft, plan);
    for (const step of rest) decideStep(draft, step);
  });
};

type On = {
  readonly state: HistoryState;
  readonly lineage: LineageState;
  readonly clock: bigint;
  readonly sources: Sources & { readonly lookups: Lookups };
  readonly command: string;
};

/** Lets `work` add events on the lineage's own tree, and takes the tree back whatever comes of it. */
const onDraft = (
  { state, lineage, clock, sources, command }: On,
  events: HistoryEvent[],
  work: (draft: Draft) => void,
): Decided => {
  const mark = lineage.tree.mark();
  const scalars = scalarsOf(lineage);
  const own = withOwnPayloads(sources, state.next, events);
  const draft: Draft = {
    lineage,
    seq: state.next,
    clock,
    time: null,
    events,
    sources: own,
    lookups: sources.lookups,
    ids: new Set(),
    names: new Set(),
    command,
    standing: (strand) => standingOf(state, strand, sources),
  };
  try {
    work(draft);
  } catch (error) {
    throw isStemmaError(error, 'E_HISTORY_DEFECTIVE')
      ? fail('E_INTERNAL', `a decided event does not apply: ${error.message}`)
      : error;
  } finally {
    lineage.tree.undoTo(mark);
    Object.assign(lineage, scalars);
  }
  return { lineage: lineage.strand, events: withPolicyBefore(events, scalars.policy), repeats: null };
};

/** What the policy was is said by no event but the intervention that changes it. */
const withPolicyBefore = (events: HistoryEvent[], policy: Policy | null): HistoryEvent[] => {
  const [first, ...rest] = events;
  if (first?.type !== 'InterventionRecorded' || !rest.some(({ type }) => type === 'PolicyConfigured'))
    return events;
  const before = policy === null ? null : { ...policy, pins: [...policy.pins] };
  return [{ ...first, content: { ...first.content, policy_before: before } }, ...rest];
};

const decideStep = (draft: Draft, step: Step): void => {
  switch (step.op) {
    case 'start':
    case 'import':
      throw fail('E_COMMAND_INVALID', 'a history starts with the first step of its first command');
    case 'insert': {
      decideInsert(draft, step);
      return;
    }
    case 'replace': {
      decideReplace(draft, step);
      return;
    }
    case 'move': {
      decideMove(draft, step);
      return;
    }
    case 'remove': {
      decideRemove(draft, step);
      return;
    }
    case 'commit': {
      decideCommit(draft, step);
      return;
    }
    case 'policy': {
      decidePolicy(draft, step);
      return;
    }
    case 'priorities': {
      decidePriorities(draft, step);
      return;
    }
    case 'name': {
      decideName(draft, step);
      return;
    }
    case 'annotate': {
      decideAnnotate(draft, step);
      return;
    }
    case 'save': {
      decideSave(draft, step);
      return;
    }
    case 'config': {
      decideConfig(draft, step);
      return;
    }
    case 'inject': {
      decideInject(draft, step);
      return;
    }
    case 'query':
    case 'run':
      // The intervention itself says it all.
      return;
    case 'fork':
    case 'rollback':
    case 'observe':
      throw fail('E_COMMAND_INVALID', `${step.op} stands alone in its command`);
  }
};
