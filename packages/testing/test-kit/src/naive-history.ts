import type { EventRef, Payload, PayloadSource } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import { branchNames, namedPosition, type Author, type Frame, type HistoryEvent } from '@stemma/events';
import {
  applyFrame,
  branchParts,
  commandDigest,
  decide,
  loadBranch,
  openHistory,
  payloadIn,
  type AppliedFrame,
  type BranchParts,
  type BranchState,
  type BranchTip,
  type Command,
  type Decided,
  type HistoryState,
  type Sources,
  type Step,
} from '@stemma/history';

export const HISTORY = 'h';

/** A branch of the naive history: where it started, and a copy of the tree after each of its frames. */
type NaiveBranch = {
  readonly parent: number | null;
  readonly at: number;
  readonly copies: Map<number, BranchParts>;
  name: string | null;
};

/** A history in memory that keeps a full copy of the tree after every frame. Tests compare rows with it. */
export type NaiveHistory = {
  readonly frames: Frame[];
  readonly branches: Map<number, NaiveBranch>;
  readonly state: HistoryState;
  /** Every node id that was ever used. */
  readonly ids: Set<string>;
  readonly payload: PayloadSource;
  /** Decides a command and applies its frame; undefined if the command is refused. */
  run(branchId: number, steps: readonly Step[], by?: Author): AppliedFrame | undefined;
  branch(how: 'fork' | 'rollback', parent: number, at: number): AppliedFrame | undefined;
  /** The branch at a position, found only by the definitions of branch and position. */
  copyAt(branchId: number, seq: number): BranchParts;
};

/**
 * Makes an empty history. It calls `see` with every frame directly after applying it, while the state can still be read.
 * For a long history it keeps the copies of the last `keep` frames only.
 */
export const naiveHistory = (
  see: (frame: AppliedFrame) => void,
  history = HISTORY,
  keep = Infinity,
): NaiveHistory => {
  const frames: Frame[] = [];
  const branches = new Map<number, NaiveBranch>();
  const state = openHistory(history, 0);
  const ids = new Set<string>();
  const names = new Set<string>();
  const branchesByName = new Map<string, number>();
  let clock = 1_700_000_000_000_000_000n;

  const payload = ({ seq, index }: EventRef): Payload =>
    payloadIn(frames[seq]?.body.events[index] as HistoryEvent);
  const position = (branchId: number, seq: number | null): BranchState => ({
    ...loadBranch(copyAt(branchId, seq ?? state.next - 1)),
    branchId,
  });
  const branchTip = (branchId: number): BranchTip | undefined => {
    const own = branches.get(branchId);
    if (own === undefined) return undefined;
    const { parent, at, name } = own;
    const seq = Math.max(branchId, ...own.copies.keys());
    return { branchId, parent: parent === null ? null : { branchId: parent, at }, name, seq };
  };
  const sources: Sources = { payload, position, branchTip };
  const lookups = {
    idTaken: (id: string) => ids.has(id),
    nameTaken: (name: string) => names.has(name),
    branchNamed: (name: string) => branchesByName.get(name),
    command: () => undefined,
  };

  const copyAt = (branchId: number, seq: number): BranchParts => {
    const { parent, at, copies } = branches.get(branchId) as NaiveBranch;
    for (let q = seq; q >= branchId; q--) {
      const copy = copies.get(q);
      if (copy !== undefined) return copy;
    }
    return copyAt(parent as number, Math.min(seq, at));
  };

  const apply = ({ branchId: branchTip, events }: Decided, command: Command): AppliedFrame => {
    const seq = state.next;
    const frame: Frame = {
      envelope: { v: 1, history, seq, prev: new Uint8Array(32) },
      body: {
        ...command.by,
        command: command.id,
        digest: commandDigest(command),
        at: (clock += 1_000n),
        branchId: branchTip,
        events,
      },
    };
    frames.push(frame);
    const applied = applyFrame(state, frame, sources);
    for (const { parent, at } of applied.started?.how === undefined || applied.started.how === 'start'
      ? []
      : [applied.started])
      branches.set(seq, { parent, at, copies: new Map(), name: applied.state.name });
    if (applied.started?.how === 'start')
      branches.set(0, { parent: null, at: 0, copies: new Map(), name: 'main' });
    for (const list of applied.changes) {
      for (const change of list) {
        if ('node' in change) ids.add(change.node);
        else if ('turn' in change) ids.add(change.turn);
        else ids.add(change.after.headers.id);
      }
    }
    for (const event of events) {
      const named = namedPosition(event);
      if (named !== null) names.add(named.name);
      for (const [name, branch] of branchNames(event, branchTip)) branchesByName.set(name, branch);
      if (event.type !== 'BranchStarted' || event.how !== 'rollback') continue;
      const left = branches.get(event.parent);
      if (left !== undefined) left.name = event.abandoned;
    }
    if (applied.observed) {
      see(applied);
      return applied;
    }
    const { copies } = branches.get(branchTip) as NaiveBranch;
    copies.set(seq, branchParts(applied.state));
    copies.delete(seq - keep);
    see(applied);
    return applied;
  };

  const run: NaiveHistory['run'] = (branchId, steps, by = { recorder: 'test' }) => {
    const command: Command = { id: `c${state.next}`, history, branchId, by, steps: [...steps] };
    try {
      return apply(decide(state, command, clock, { ...sources, lookups }), command);
    } catch (error) {
      if (isStemmaError(error) && error.code !== 'E_INTERNAL' && error.code !== 'E_HISTORY_DEFECTIVE')
        return undefined;
      throw error;
    }
  };

  return {
    frames,
    branches,
    state,
    ids,
    payload,
    copyAt,
    run,
    branch: (how, parent, at) => {
      const seq = Math.min(at, branchTip(parent)?.seq ?? 0);
      const to = { branchId: parent, seq };
      return run(parent, [
        how === 'fork'
          ? { op: 'fork', at: { branchId: parent, seq: at } }
          : { op: 'rollback', to, abandoned: `left-${state.next}` },
      ]);
    },
  };
};
