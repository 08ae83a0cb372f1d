import { pack, unpack, type Packable } from '@stemma/canonical';
import {
  flattenRecords,
  PAYLOADS,
  type FlatTree,
  type Payload,
  type PayloadSource,
} from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import {
  branchNames,
  enteredIds,
  HistoryEvent,
  namedPosition,
  type Author,
  type Frame,
  type BranchPosition,
} from '@stemma/events';
import {
  applyFrame,
  branchParts,
  commandDigest,
  decide,
  loadBranch,
  openHistory,
  payloadIn,
  POSITIONS,
  type AppliedFrame,
  type BranchParts,
  type BranchTip,
  type Command,
  type Decided,
  type HistoryState,
  type Lookups,
  type Sources,
  type Step,
} from '@stemma/history';
import { missing } from '@stemma/suspend';

/** A commit or import on a branch's ancestor path. */
export type AncestorSnapshot = { readonly cycle: number; readonly branchId: number; readonly seq: number };

/**
 * One history in memory that makes a full copy of the branch after every frame. It writes no log and no rows; tests
 * compare theirs with it.
 */
export type ReferenceHistory = {
  readonly state: HistoryState;
  readonly frames: readonly Frame[];
  readonly applied: readonly AppliedFrame[];
  readonly payload: PayloadSource;
  readonly sources: Sources & { readonly lookups: Lookups };
  /** Decides steps on a branch as one command and applies the frame. */
  submit(branchId: number, steps: readonly Step[], clock: bigint, by?: Author): AppliedFrame;
  /** Starts a branch at a position; returns its branch id. */
  fork(parent: number, at: number, name: string | null): number;
  rollback(left: number, at: number, abandoned: string | null): number;
  /** The branch after frame `seq` (null: its newest), along its ancestor path. */
  parts(branchId: number, seq: number | null): BranchParts;
  tree(branchId: number, seq?: number | null): FlatTree;
  /** Snapshots on the ancestor path of a branch, newest first. */
  ancestorSnapshots(branchId: number): readonly AncestorSnapshot[];
  name(name: string): BranchPosition | undefined;
};

const BY: Author = { recorder: 'reference' };

/** Is told of each command that is decided, before its frame is applied; what it returns is told of the frame, when it is. */
export type Submitted = (command: Command, clock: bigint, sources: ReferenceHistory['sources']) => Follow;
type Follow = (frame: Frame) => void;

/** The events as a reader gets them: encoded, then decoded and parsed. */
const asRecorded = (decided: readonly HistoryEvent[]): readonly HistoryEvent[] =>
  (unpack(pack(decided as unknown as Packable)) as unknown[]).map((event) => HistoryEvent.parse(event));

export const referenceHistory = (id = 'h-reference', submitted?: Submitted): ReferenceHistory => {
  const state = openHistory(id, 0);
  const frames: Frame[] = [];
  const applied: AppliedFrame[] = [];
  const copies = new Map<number, BranchParts[]>();
  const names = new Map<string, BranchPosition>();
  const ids = new Set<string>();
  const branchesByName = new Map<string, number>();

  const payload: PayloadSource = (ref): Payload => {
    const event = frames[ref.seq]?.body.events[ref.index];
    if (event === undefined) throw missing(PAYLOADS, [ref]);
    return payloadIn(event);
  };
  const parts = (branchId: number, seq: number | null): BranchParts => {
    const own = copies.get(branchId);
    if (own === undefined) throw fail('E_BRANCH_NOT_FOUND', `there is no branch ${branchId}`);
    const found = seq === null ? own.at(-1) : own.findLast((copy) => copy.seq <= seq);
    if (found !== undefined) return found;
    const parent = own[0]?.parent;
    if (parent == null) throw missing(POSITIONS, [{ branchId, seq }]);
    return parts(parent.branchId, Math.min(seq as number, parent.at));
  };
  const lookups: Lookups = {
    idTaken: (node) => ids.has(node),
    nameTaken: (name) => names.has(name),
    branchNamed: (name) => branchesByName.get(name),
    command: () => undefined,
  };
  const sources = {
    payload,
    lookups,
    position: (branchId: number, seq: number | null) => loadBranch(parts(branchId, seq)),
    branchTip: (branchId: number): BranchTip | undefined => {
      const newest = copies.get(branchId)?.at(-1);
      return newest && { branchId, parent: newest.parent, name: newest.name, seq: newest.seq };
    },
  };

  const append = (decided: Decided, command: Command, at: bigint): AppliedFrame => {
    const envelope = { v: 1, history: id, seq: frames.length, prev: new Uint8Array(32) };
    const digest = commandDigest(command);
    const body = {
      ...command.by,
      command: command.id,
      digest,
      at,
      branchId: decided.branchId,
      events: asRecorded(decided.events),
    };
    const frame: Frame = { envelope, body };
    const result = applyFrame(state, frame, sources);
    frames.push(frame);
    applied.push(result);
    for (const event of frame.body.events) remember(event, ids, names);
    if (result.observed) return result;
    const own = copies.get(decided.branchId) ?? [];
    copies.set(decided.branchId, [...own, branchParts(result.state)]);
    for (const event of frame.body.events) {
      if (event.type === 'BranchStarted' && event.how === 'rollback') rename(event.parent, event.abandoned);
      for (const [name, branch] of branchNames(event, result.branchId)) branchesByName.set(name, branch);
    }
    return result;
  };
  /** Gives the newest copy of an abandoned branch its new name. */
  const rename = (branchId: number, name: string | null): void => {
    const own = copies.get(branchId) ?? [];
    copies.set(branchId, [...own.slice(0, -1), { ...(own.at(-1) as BranchParts), name }]);
  };
  const submit: ReferenceHistory['submit'] = (branchId, steps, clock, by = BY) => {
    const command: Command = { id: `command-${frames.length}`, history: id, branchId, by, steps: [...steps] };
    const decided = decide(state, command, clock, sources);
    const follow = submitted?.(command, clock, sources);
    const result = append(decided, command, clock);
    follow?.(frames.at(-1) as Frame);
    return result;
  };
  const ancestorSnapshots = (branchId: number, limit = Infinity): AncestorSnapshot[] => {
    const own = applied.filter(
      (frame) => frame.branchId === branchId && frame.seq <= limit && frame.snapshot !== null,
    );
    const snapshots = own
      .map((frame) => ({ cycle: frame.snapshot?.cycle ?? 0, branchId, seq: frame.seq }))
      .reverse();
    const parent = copies.get(branchId)?.[0]?.parent;
    return parent == null
      ? snapshots
      : [...snapshots, ...ancestorSnapshots(parent.branchId, Math.min(limit, parent.at))];
  };
  return {
    state,
    frames,
    applied,
    payload,
    sources,
    parts,
    ancestorSnapshots,
    submit,
    fork: (parent, at, name) =>
      submit(parent, [{ op: 'fork', at: { branchId: parent, seq: at }, name }], 0n).branchId,
    rollback: (left, at, abandoned) =>
      submit(left, [{ op: 'rollback', to: { branchId: left, seq: at }, abandoned }], 0n).branchId,
    tree: (branchId, seq = null) => flattenRecords(parts(branchId, seq)),
    name: (name) => names.get(name),
  };
};

const remember = (event: HistoryEvent, ids: Set<string>, names: Map<string, BranchPosition>): void => {
  for (const id of enteredIds(event)) ids.add(id);
  const named = namedPosition(event);
  if (named !== null) names.set(named.name, { branchId: named.branchId, seq: named.seq });
};
