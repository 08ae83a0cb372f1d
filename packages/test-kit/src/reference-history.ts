import { pack, unpack, type Packable } from '@stemma/canonical';
import { flattenRecords, PAYLOADS, type FlatTree, type Payload, type PayloadSource } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { branchNames, enteredIds, HistoryEvent, namedPosition, type Author, type Frame } from '@stemma/events';
import { applyFrame, commandDigest, decide, loadLineage, openHistory, partsOf, payloadIn, POSITIONS, type AppliedFrame, type Command, type Decided, type HistoryState, type LineageParts, type Lookups, type Sources, type Standing, type Step } from '@stemma/history';
import { missing } from '@stemma/suspend';

/** A commit or import on a lineage's chain. */
export type ChainSnapshot = { readonly cycle: number; readonly strand: number; readonly seq: number };

/**
 * One history in memory, kept naively: after every frame a full copy of the lineage it belongs to. It writes no log and
 * no rows; what those give is compared with it.
 */
export type ReferenceHistory = {
  readonly state: HistoryState;
  readonly frames: readonly Frame[];
  readonly applied: readonly AppliedFrame[];
  readonly payload: PayloadSource;
  readonly sources: Sources & { readonly lookups: Lookups };
  /** Decides steps on a lineage as one command and applies the frame. */
  submit(strand: number, steps: readonly Step[], clock: bigint, by?: Author): AppliedFrame;
  /** A new lineage from a position; gives its strand. */
  fork(parent: number, at: number, name: string | null): number;
  rollback(left: number, at: number, abandoned: string | null): number;
  /** The lineage after frame `seq` (null: its newest), along its chain. */
  parts(strand: number, seq: number | null): LineageParts;
  tree(strand: number, seq?: number | null): FlatTree;
  /** Snapshots on the chain of a lineage, newest first. */
  chain(strand: number): readonly ChainSnapshot[];
  name(name: string): { readonly strand: number; readonly seq: number } | undefined;
};

const BY: Author = { recorder: 'reference' };

/** What a reader gets of recorded events: their bytes, decoded and parsed. */
const asRecorded = (decided: readonly HistoryEvent[]): readonly HistoryEvent[] =>
  (unpack(pack(decided as unknown as Packable)) as unknown[]).map((event) => HistoryEvent.parse(event));

export const referenceHistory = (id = 'h-reference'): ReferenceHistory => {
  const state = openHistory(id, 0);
  const frames: Frame[] = [];
  const applied: AppliedFrame[] = [];
  const copies = new Map<number, LineageParts[]>();
  const names = new Map<string, { strand: number; seq: number }>();
  const ids = new Set<string>();
  const lineageNames = new Map<string, number>();

  const payload: PayloadSource = (ref): Payload => {
    const event = frames[ref.seq]?.body.events[ref.index];
    if (event === undefined) throw missing(PAYLOADS, [ref]);
    return payloadIn(event);
  };
  const parts = (strand: number, seq: number | null): LineageParts => {
    const own = copies.get(strand);
    if (own === undefined) throw fail('E_LINEAGE_NOT_FOUND', `there is no lineage ${strand}`);
    const found = seq === null ? own.at(-1) : own.findLast((copy) => copy.seq <= seq);
    if (found !== undefined) return found;
    const parent = own[0]?.parent;
    if (parent == null) throw missing(POSITIONS, [{ strand, seq }]);
    return parts(parent.strand, Math.min(seq as number, parent.at));
  };
  const lookups: Lookups = {
    idTaken: (node) => ids.has(node),
    nameTaken: (name) => names.has(name),
    lineageNamed: (name) => lineageNames.get(name),
    command: () => undefined,
  };
  const sources = {
    payload,
    lookups,
    position: (strand: number, seq: number | null) => loadLineage(parts(strand, seq)),
    lineage: (strand: number): Standing | undefined => {
      const newest = copies.get(strand)?.at(-1);
      return newest && { strand, parent: newest.parent, name: newest.name, seq: newest.seq };
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
      lineage: decided.lineage,
      events: asRecorded(decided.events),
    };
    const frame: Frame = { envelope, body };
    const result = applyFrame(state, frame, sources);
    frames.push(frame);
    applied.push(result);
    for (const event of frame.body.events) remember(event, ids, names);
    if (result.observed) return result;
    const own = copies.get(decided.lineage) ?? [];
    copies.set(decided.lineage, [...own, partsOf(result.state)]);
    for (const event of frame.body.events) {
      if (event.type === 'LineageStarted' && event.how === 'rollback') rename(event.parent, event.abandoned);
      for (const [name, branch] of branchNames(event, result.lineage)) lineageNames.set(name, branch);
    }
    return result;
  };
  /** The newest copy of a lineage that was left bears its new name. */
  const rename = (strand: number, name: string | null): void => {
    const own = copies.get(strand) ?? [];
    copies.set(strand, [...own.slice(0, -1), { ...(own.at(-1) as LineageParts), name }]);
  };
  const submit: ReferenceHistory['submit'] = (lineage, steps, clock, by = BY) => {
    const command: Command = { id: `command-${frames.length}`, history: id, lineage, by, steps: [...steps] };
    return append(decide(state, command, clock, sources), command, clock);
  };
  const chain = (strand: number, limit = Infinity): ChainSnapshot[] => {
    const own = applied.filter(
      (frame) => frame.lineage === strand && frame.seq <= limit && frame.snapshot !== null,
    );
    const snapshots = own
      .map((frame) => ({ cycle: frame.snapshot?.cycle ?? 0, strand, seq: frame.seq }))
      .reverse();
    const parent = copies.get(strand)?.[0]?.parent;
    return parent == null ? snapshots : [...snapshots, ...chain(parent.strand, Math.min(limit, parent.at))];
  };
  return {
    state,
    frames,
    applied,
    payload,
    sources,
    parts,
    chain,
    submit,
    fork: (parent, at, name) =>
      submit(parent, [{ op: 'fork', at: { strand: parent, seq: at }, name }], 0n).lineage,
    rollback: (left, at, abandoned) =>
      submit(left, [{ op: 'rollback', to: { strand: left, seq: at }, abandoned }], 0n).lineage,
    tree: (strand, seq = null) => flattenRecords(parts(strand, seq)),
    name: (name) => names.get(name),
  };
};

const remember = (
  event: HistoryEvent,
  ids: Set<string>,
  names: Map<string, { strand: number; seq: number }>,
): void => {
  for (const id of enteredIds(event)) ids.add(id);
  const named = namedPosition(event);
  if (named !== null) names.set(named.name, { strand: named.strand, seq: named.seq });
};
