import { changedFields } from '@stemma/events';
import type { Cause } from '@stemma/history';
import type { ServedRows } from '@stemma/projector';
import { cycleSeen, timelineOf, vistaFrom, type Moment, type Vista } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import type { BreakCause } from './cache-types.ts';
import type { EventPlace, Frames } from './origin.ts';

/** The first message of the old thread that the new one does not have there, and the one it has instead. */
export type Divergence = {
  readonly old: string;
  /** Undefined where the new thread ends. */
  readonly fresh: string | undefined;
  /** Whether the old message is anywhere in the new thread, and the new one in the old thread. */
  readonly oldStays: boolean;
  readonly freshWas: boolean;
};

/** From one snapshot to the next on a chain: what happened behind frame `after`, seen from the snapshot `to`. */
export type Stretch = {
  readonly history: string;
  readonly after: number;
  readonly to: { readonly strand: number; readonly seq: number; readonly cycle: number };
};

type Found = EventPlace & { readonly cause: Cause };
type Answer = Pick<BreakCause, 'node' | 'what'> & {
  readonly found: Found | undefined;
  readonly entered: EventPlace | undefined;
};

/** Tells why two threads part where they part: by what is recorded of the node in question (causes). */
export const breakCause = async (
  projector: ServedRows,
  frames: Frames,
  stretch: Stretch,
  divergence: Divergence,
): Promise<BreakCause> => {
  const { history, after, to } = stretch;
  // A replacement may have set other attributes only; that is not told by rows.
  const { node, what, found, entered } = await projector.read((rows) =>
    answerOf(openLives(rows, vistaFrom(rows, history, to.strand, to.seq), after), divergence),
  );
  const set = what === 'changed' ? await newestContent(frames, projector, stretch, node) : undefined;
  const told = set ?? found;
  const [origin, first] = [
    told === undefined ? [] : await frames.describe([told]),
    entered === undefined ? [] : await frames.describe([entered]),
  ];
  return { node, what, cause: told?.cause ?? null, origin: origin[0] ?? null, entered: first[0] ?? null };
};

const answerOf = (lives: Lives, { old, fresh, oldStays, freshWas }: Divergence): Answer => {
  const answer = (node: string, what: BreakCause['what'], found: Found | undefined): Answer => {
    const came = lives.of(node)[0];
    const brought = found !== undefined && came?.seq === found.seq && came.index === found.index;
    return { node, what, found, entered: brought ? undefined : came };
  };
  if (old === fresh) return answer(old, 'changed', lives.moved(old));
  if (!oldStays) return answer(old, 'left', lives.left(old) ?? lives.moved(old) ?? lives.sealed());
  if (fresh !== undefined && !freshWas)
    return answer(fresh, 'entered', lives.came(fresh) ?? lives.moved(fresh) ?? lives.unsealed());
  const moved = fresh === undefined ? undefined : lives.moved(fresh);
  if (fresh !== undefined && moved !== undefined) return answer(fresh, 'moved', moved);
  return answer(old, 'moved', lives.moved(old) ?? lives.placed(old));
};

type Lives = ReturnType<typeof openLives>;

/** What happened to nodes between two snapshots. */
const openLives = (rows: RowReader, vista: Vista, after: number) => {
  const of = (id: string): readonly Moment[] => timelineOf(rows, vista, id);
  const last = (id: string, fits: (moment: Moment) => boolean): Moment | undefined =>
    of(id).findLast((moment) => moment.seq > after && fits(moment));
  const isMove = ({ cause }: Moment): boolean =>
    cause.kind === 'mutation' && (cause.op === 'move' || cause.op === 'carry');
  return {
    of,
    came: (id: string) => last(id, ({ explains }) => explains === 'added'),
    left: (id: string) => last(id, ({ explains }) => explains === 'removed'),
    /** How it was put elsewhere: itself, or the nearest that it lies in. */
    moved: (id: string): Found | undefined => {
      for (let at: string | null = id; at !== null;) {
        const found = last(at, isMove);
        if (found !== undefined)
          return at === id ? found : { ...found, cause: { kind: 'mutation', op: 'carry', by: at } };
        at = of(at).findLast(({ parent }) => parent !== undefined)?.parent ?? null;
      }
      return undefined;
    },
    /** The head that it lay in became a turn, which may stand before one that an import put at the end. */
    placed: (id: string): Found | undefined => last(id, ({ cause }) => cause.kind === 'sealing'),
    /** A thread of the newest turn's pre-context only loses what it had when a new turn is sealed, … */
    sealed: (): Found | undefined => {
      const commit = cycleSeen(rows, vista, vista.cycle);
      if (commit?.turn == null || commit.seq <= after) return undefined;
      const { seq, turn } = commit;
      return { seq, index: turn.index, cause: { kind: 'sealing', turn: turn.id } };
    },
    /** … and shows again that of the one before when the newest has gone. */
    unsealed: (): Found | undefined => {
      for (let cycle = vista.cycle - 1; cycle >= 0; cycle--) {
        const turn = cycleSeen(rows, vista, cycle)?.turn?.id;
        const gone =
          turn === undefined ? undefined : of(turn).findLast((each) => each.explains === 'removed');
        if (turn === undefined || (gone !== undefined && gone.seq <= after)) continue;
        return gone;
      }
      return undefined;
    },
  };
};

/** The newest event of the stretch that set a content; undefined if none did, so that something else was changed. */
const newestContent = async (
  frames: Frames,
  projector: ServedRows,
  { history, after, to }: Stretch,
  node: string,
): Promise<Found | undefined> => {
  const moments = await projector.read((rows) =>
    timelineOf(rows, vistaFrom(rows, history, to.strand, to.seq), node),
  );
  const replaced = moments.filter(
    ({ seq, cause }) => seq > after && cause.kind === 'mutation' && cause.op === 'replace',
  );
  const eventAt = await frames.held(replaced.map(({ seq }) => seq));
  return replaced.findLast((moment) => changedFields(eventAt(moment)).includes('content'));
};
