import { fail } from '@stemma/errors';
import { payloadIn } from '@stemma/history';
import { branchRefOf, listSnapshots, readPositionMeta, type SnapshotRow } from '@stemma/history-store';
import { toolCallsOf } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import {
  findFrameSummary,
  findHistory,
  findPromptSize,
  firstCallRow,
  listBranches,
  listCallsAt,
  listInterventions,
  listSizes,
  NO_TOKENS,
  type BranchRow,
  type CallRow,
  type Decisions,
  type InterventionRow,
  type SizeRow,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { millisecondsOf } from '@stemma/values';
import { catchUpWith } from '../catch-up-with.ts';
import { openCounts, type Counts } from '../prompts/measure.ts';
import type { PromptSize } from '../prompts/sizes-types.ts';
import { listPromptSizes } from '../prompts/sizes.ts';
import type { FilmCell, FilmCursor, FilmDecision, FilmPage, Filmstrip } from './types.ts';

export const openFilmstrip = (projection: Projection): Filmstrip => {
  const counts = openCounts();
  return {
    page: async (history, page) => {
      await catchUpWith(projection, history);
      return listFilmCells(projection, history, counts, page);
    },
  };
};

/** A page of the calls of all branches of a history. @throws E_HISTORY_NOT_FOUND */
export const listFilmCells = async (
  projection: Projection,
  history: string,
  counts: Counts,
  { after, limit }: Parameters<Filmstrip['page']>[1],
): Promise<FilmPage> => {
  const found = await projection.read((rows) => {
    if (findHistory(rows, history) === undefined)
      throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`, { history });
    return cellsOf(rows, history, after, limit);
  });
  const sizes = await sizesOfParts(projection, history, found.cells, counts);
  const cells: FilmCell[] = [];
  for (const { cell, size, answeredBy } of found.cells)
    cells.push({
      ...cell,
      ...(size ?? sizes(cell)),
      decided: cell.decided ?? (await decisionOfAnswer(projection, history, answeredBy)),
    });
  return { cells, next: found.next };
};

type Counted = Pick<FilmCell, 'messages' | 'tokens' | 'roles' | 'came' | 'left' | 'compacted'>;

type FoundCell = {
  readonly cell: Omit<FilmCell, keyof Counted>;
  /** Null: the thread is not full, so that no row has its size. */
  readonly size: Counted | null;
  /** The call whose recorded answer says what was decided, where no message does. */
  readonly answeredBy: CallRow | null;
};

const cellsOf = (
  rows: RowReader,
  history: string,
  after: FilmCursor | undefined,
  limit: number,
): { readonly cells: readonly FoundCell[]; readonly next: FilmCursor | null } => {
  const hasCalls = firstCallRow(rows, history) !== undefined;
  const cells: FoundCell[] = [];
  for (const branch of listBranches(rows, history)) {
    const { branchId } = branch;
    if (branch.snapshots === 0 || branchId < (after?.branchId ?? 0)) continue;
    const first = firstCycle(rows, history, branch);
    const from = branchId === after?.branchId ? Math.max(first, after.cycle + 1) : first;
    const room = limit - cells.length;
    const snapshots = listSnapshots(rows, history, branchId, branch.seq, {
      first: 'oldest',
      from,
      limit: room + 1,
    });
    const shown = snapshots.slice(0, room);
    const take = openActs(rows, history, branchId, seqBefore(rows, history, branch, shown[0]));
    let size = sizeOfCall(rows, history, shown[0]);
    for (const [i, snapshot] of shown.entries()) {
      const next = snapshots[i + 1];
      const following =
        next === undefined
          ? newestSize(rows, history, branchId, snapshot.seq)
          : sizeOfCall(rows, history, next);
      cells.push(cellOf(rows, history, snapshot, { size, following, hasCalls, take }));
      size = following;
    }
    const last = cells.at(-1)?.cell;
    if (snapshots.length > room)
      return { cells, next: last === undefined ? null : { branchId: last.branchId, cycle: last.cycle } };
  }
  return { cells, next: null };
};

/** The first cycle of a branch that is its own. */
const firstCycle = (rows: RowReader, history: string, { parent }: BranchRow): number =>
  parent === null ? 0 : readPositionMeta(rows, history, parent.branchId, parent.seq).meta.cycle + 1;

/** The frame of the call before the first one of a page; where the branch starts, if there is none. */
const seqBefore = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchRow,
  first: SnapshotRow | undefined,
): number => {
  if (first === undefined || first.cycle === 0) return -1;
  const [before] = listSnapshots(rows, history, branchId, seq, { from: first.cycle - 1, limit: 1 });
  return before?.branchId === branchId ? before.seq : -1;
};

type Act = FilmCell['interventions'][number];

/** Takes what people did on a branch after a frame up to another one, oldest first. */
type TakeActs = (upTo: number) => readonly Act[];

/** A saved position or a note changes nothing that a model is shown. */
const openActs = (rows: RowReader, history: string, branchId: number, after: number): TakeActs => {
  let [from, waiting]: [number | null, readonly InterventionRow[]] = [after + 1, []];
  return (upTo) => {
    const taken: Act[] = [];
    for (;;) {
      if (waiting.length === 0) {
        if (from === null) return taken;
        const page = listInterventions(rows, history, { branchId, from });
        [waiting, from] = [page.rows, page.next];
        continue;
      }
      const [act, ...rest] = waiting;
      if (act === undefined || act.seq > upTo) return taken;
      waiting = rest;
      const { id, type, actor } = act;
      if (type !== 'save' && type !== 'annotate') taken.push({ id, type, actor });
    }
  };
};

type Around = {
  /** What the call was shown, and what the branch shows at the next one, or now. */
  readonly size: SizeRow | undefined;
  readonly following: SizeRow | undefined;
  readonly hasCalls: boolean;
  readonly take: TakeActs;
};

const sizeOfCall = (
  rows: RowReader,
  history: string,
  snapshot: SnapshotRow | undefined,
): SizeRow | undefined =>
  snapshot && findPromptSize(rows, history, { branchId: snapshot.branchId, seq: snapshot.seq });

const cellOf = (
  rows: RowReader,
  history: string,
  { branchId, seq, cycle }: SnapshotRow,
  { size, following, hasCalls, take }: Around,
): FoundCell => {
  const decided = following === undefined ? null : decisionOf(following.decisions);
  const attempts = hasCalls
    ? listCallsAt(rows, history, { branchId, seq }).filter(({ reassignedTo }) => reassignedTo === null)
    : [];
  const newest = attempts.at(-1) ?? null;
  return {
    cell: {
      ...{ branchId, seq, cycle, decided },
      at: millisecondsOf(findFrameSummary(rows, history, seq).at),
      call: newest === null ? null : { attempts: attempts.length, status: newest.finished?.status ?? null },
      interventions: take(seq),
    },
    size: size === undefined ? null : countedOf(size),
    answeredBy: newest,
  };
};

/** What the newest frames of a branch show, after a frame of it. */
const newestSize = (rows: RowReader, history: string, branchId: number, after: number): SizeRow | undefined =>
  listSizes(rows, history, branchId, { from: after + 1 }).at(-1)?.size;

const countedOf = (size: SizeRow): Counted => {
  const { messages, tokens, roles, entered, removed, cameTokens, goneTokens, goneBy, decisions } = size;
  return {
    ...{ messages, tokens, roles },
    came: { messages: entered, tokens: cameTokens },
    left: { messages: removed, tokens: goneTokens },
    compacted: (goneBy.removed ?? 0) > 1 || ((goneBy.pruned ?? 0) > 0 && decisions.summaries > 0),
  };
};

/** The sizes of calls whose thread is a part of the tree: no row has them, and of each branch they are summed up together. */
const sizesOfParts = async (
  projection: Projection,
  history: string,
  cells: readonly FoundCell[],
  counts: Counts,
): Promise<(cell: FoundCell['cell']) => Counted> => {
  const found = new Map<string, PromptSize>();
  const ofPart = cells.filter(({ size }) => size === null).map(({ cell }) => cell);
  for (const branchId of new Set(ofPart.map((cell) => cell.branchId))) {
    const own = ofPart.filter((cell) => cell.branchId === branchId);
    const page = { after: (own[0]?.cycle ?? 0) - 1, limit: own.length };
    const { sizes } = await listPromptSizes(projection, branchRefOf(history, branchId), counts, page);
    for (const size of sizes) found.set(`${branchId}.${size.cycle}`, size);
  }
  return ({ branchId, cycle }) => {
    const size = found.get(`${branchId}.${cycle}`);
    return {
      ...{ messages: size?.messages ?? 0, tokens: size?.tokens ?? 0, roles: size?.roles ?? NO_TOKENS },
      ...{ came: null, left: null, compacted: false },
    };
  };
};

const decisionOf = ({ said, tools }: Decisions): FilmDecision | null =>
  said === 0 && tools.length === 0
    ? null
    : { said, tools: tools.map(({ name, state }) => ({ name, state })) };

/** What a recorded answer says, of which no message is there yet. */
const decisionOfAnswer = async (
  projection: Projection,
  history: string,
  call: CallRow | null,
): Promise<FilmDecision | null> => {
  const at = call?.finished?.location;
  if (at === undefined) return null;
  const event = (await projection.payloads.events(history, at.seq))[at.index];
  const answer = event === undefined ? undefined : payloadIn(event)['data_answer'];
  if (answer === undefined || answer === null) return null;
  const tools = toolCallsOf(answer).map(({ name }) => ({ name, state: 'called' as const }));
  return { said: tools.length === 0 ? 1 : 0, tools };
};
