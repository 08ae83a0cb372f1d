import type { EventRef, Payload, PayloadSource } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import { branchNames, namedPosition, type Author, type Frame, type HistoryEvent } from '@stemma/events';
import { applyFrame, commandDigest, decide, loadLineage, openHistory, partsOf, payloadIn, type AppliedFrame, type Command, type Decided, type HistoryState, type LineageParts, type LineageState, type Sources, type Standing, type Step } from '@stemma/history';

export const HISTORY = 'h';

/** A strand as the naive copies know it: where it began, and a copy after each of its frames. */
type NaiveStrand = {
  readonly parent: number | null;
  readonly at: number;
  readonly copies: Map<number, LineageParts>;
  name: string | null;
};

/** A history in memory that keeps a full copy of the tree after every frame: what rows are compared with. */
export type NaiveHistory = {
  readonly frames: Frame[];
  readonly strands: Map<number, NaiveStrand>;
  readonly state: HistoryState;
  /** Every id that was ever used. */
  readonly ids: Set<string>;
  readonly payload: PayloadSource;
  /** Decides and applies; undefined if the command was refused. */
  run(strand: number, steps: readonly Step[], by?: Author): AppliedFrame | undefined;
  branch(how: 'fork' | 'rollback', parent: number, at: number): AppliedFrame | undefined;
  /** The lineage at a position, by the definition of strands and positions alone. */
  copyAt(strand: number, seq: number): LineageParts;
};

/**
 * `see` is given every frame right after it was applied, while its state can still be read. Of a long history only the
 * copies of the last `keep` frames may be kept.
 */
export const naiveHistory = (
  see: (frame: AppliedFrame) => void,
  history = HISTORY,
  keep = Infinity,
): NaiveHistory => {
  const frames: Frame[] = [];
  const strands = new Map<number, NaiveStrand>();
  const state = openHistory(history, 0);
  const ids = new Set<string>();
  const names = new Set<string>();
  const lineageNames = new Map<string, number>();
  let clock = 1_700_000_000_000_000_000n;

  const payload = ({ seq, index }: EventRef): Payload =>
    payloadIn(frames[seq]?.body.events[index] as HistoryEvent);
  const position = (strand: number, seq: number | null): LineageState => ({
    ...loadLineage(copyAt(strand, seq ?? state.next - 1)),
    strand,
  });
  const lineage = (strand: number): Standing | undefined => {
    const own = strands.get(strand);
    if (own === undefined) return undefined;
    const { parent, at, name } = own;
    const seq = Math.max(strand, ...own.copies.keys());
    return { strand, parent: parent === null ? null : { strand: parent, at }, name, seq };
  };
  const sources: Sources = { payload, position, lineage };
  const lookups = {
    idTaken: (id: string) => ids.has(id),
    nameTaken: (name: string) => names.has(name),
    lineageNamed: (name: string) => lineageNames.get(name),
    command: () => undefined,
  };

  const copyAt = (strand: number, seq: number): LineageParts => {
    const { parent, at, copies } = strands.get(strand) as NaiveStrand;
    for (let q = seq; q >= strand; q--) {
      const copy = copies.get(q);
      if (copy !== undefined) return copy;
    }
    return copyAt(parent as number, Math.min(seq, at));
  };

  const apply = ({ lineage, events }: Decided, command: Command): AppliedFrame => {
    const seq = state.next;
    const frame: Frame = {
      envelope: { v: 1, history, seq, prev: new Uint8Array(32) },
      body: {
        ...command.by,
        command: command.id,
        digest: commandDigest(command),
        at: (clock += 1_000n),
        lineage,
        events,
      },
    };
    frames.push(frame);
    const applied = applyFrame(state, frame, sources);
    for (const { parent, at } of applied.started?.how === undefined || applied.started.how === 'start'
      ? []
      : [applied.started])
      strands.set(seq, { parent, at, copies: new Map(), name: applied.state.name });
    if (applied.started?.how === 'start')
      strands.set(0, { parent: null, at: 0, copies: new Map(), name: 'main' });
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
      for (const [name, branch] of branchNames(event, lineage)) lineageNames.set(name, branch);
      if (event.type !== 'LineageStarted' || event.how !== 'rollback') continue;
      const left = strands.get(event.parent);
      if (left !== undefined) left.name = event.abandoned;
    }
    if (applied.observed) {
      see(applied);
      return applied;
    }
    const { copies } = strands.get(lineage) as NaiveStrand;
    copies.set(seq, partsOf(applied.state));
    copies.delete(seq - keep);
    see(applied);
    return applied;
  };

  const run: NaiveHistory['run'] = (strand, steps, by = { recorder: 'test' }) => {
    const command: Command = { id: `c${state.next}`, history, lineage: strand, by, steps: [...steps] };
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
    strands,
    state,
    ids,
    payload,
    copyAt,
    run,
    branch: (how, parent, at) => {
      const seq = Math.min(at, lineage(parent)?.seq ?? 0);
      const to = { strand: parent, seq };
      return run(parent, [
        how === 'fork'
          ? { op: 'fork', at: { strand: parent, seq: at } }
          : { op: 'rollback', to, abandoned: `left-${state.next}` },
      ]);
    },
  };
};
