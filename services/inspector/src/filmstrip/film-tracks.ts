import type { BranchNodeAnswer, FilmCellAnswer } from '@stemma/api';
import { branchLabel } from '../page/chosen.ts';

/** A row of the filmstrip: the calls of `main`, or those that only another branch has. */
export type Track = {
  readonly branchId: number;
  /** The address of the branch. */
  readonly branch: string;
  readonly name: string;
  /** 0: the path of `main`, which is drawn large. */
  readonly row: number;
  readonly cells: readonly FilmCellAnswer[];
  /** The call after which it parts, and the row of that call; null for the first row. */
  readonly parting: { readonly row: number; readonly cycle: number } | null;
  /** A rollback left it. */
  readonly abandoned: boolean;
  readonly description: string;
};

export type Film = {
  readonly tracks: readonly Track[];
  /** The calls on the ancestor path of a branch, oldest first. */
  pathOf(branchId: number): readonly FilmCellAnswer[];
  /** The track on which a call of a branch's path is drawn. */
  trackOf(branchId: number, cycle: number): Track | undefined;
  readonly first: number;
  readonly last: number;
};

/** The branches from the root to one, each with the newest cycle of it that is on the way. */
type AncestorPath = readonly { readonly branchId: number; readonly limit: number }[];

const ancestorPathOf = (byId: ReadonlyMap<number, BranchNodeAnswer>, branchId: number): AncestorPath => {
  const path: { branchId: number; limit: number }[] = [];
  let limit = Infinity;
  for (let branch = byId.get(branchId); branch !== undefined && path.length <= byId.size;) {
    path.unshift({ branchId: branch.branchId, limit });
    limit = Math.min(limit, branch.parent?.cycle ?? -1);
    branch = branch.parent === null ? undefined : byId.get(branch.parent.branchId);
  }
  return path;
};

/** The tracks of a history: the path of `main` first, then other branches, those that a rollback left at the end. */
export const filmOf = (
  history: string,
  branches: readonly BranchNodeAnswer[],
  cells: readonly FilmCellAnswer[],
): Film => {
  const byId = new Map(branches.map((one) => [one.branchId, one]));
  const own = new Map<number, FilmCellAnswer[]>(branches.map(({ branchId }) => [branchId, []]));
  for (const cell of cells) own.get(cell.branchId)?.push(cell);
  const paths = new Map<number, readonly FilmCellAnswer[]>();
  const pathOf = (branchId: number): readonly FilmCellAnswer[] => {
    const known = paths.get(branchId);
    if (known !== undefined) return known;
    const found = ancestorPathOf(byId, branchId).flatMap(({ branchId: of, limit }) =>
      (own.get(of) ?? []).filter(({ cycle }) => cycle <= limit),
    );
    paths.set(branchId, found);
    return found;
  };

  const main = branches.find(({ branch }) => branch === history) ?? branches[0];
  const limits = new Map(
    main === undefined
      ? []
      : ancestorPathOf(byId, main.branchId).map(({ branchId, limit }) => [branchId, limit]),
  );
  const others = branches
    .map((branch) => ({ branch, limit: limits.get(branch.branchId) }))
    .map(({ branch, limit }) => ({
      branch,
      limit,
      cells: (own.get(branch.branchId) ?? []).filter(({ cycle }) => cycle > (limit ?? -1)),
    }))
    .filter(({ limit, cells: rest }) => limit === undefined || rest.length > 0)
    .sort((a, b) => Number(isAbandoned(a.branch)) - Number(isAbandoned(b.branch)));
  const rowOf = new Map(others.map(({ branch }, i) => [branch.branchId, i + 1]));
  const rowAt = (branchId: number, cycle: number): number =>
    cycle <= (limits.get(branchId) ?? -1) ? 0 : (rowOf.get(branchId) ?? 0);
  const rowOnPath = (branchId: number, cycle: number): number | undefined => {
    const cell = pathOf(branchId).find((each) => each.cycle === cycle);
    return cell && rowAt(cell.branchId, cycle);
  };

  const tracks: Track[] =
    main === undefined ? [] : [{ ...trackFacts(main), row: 0, cells: pathOf(main.branchId), parting: null }];
  for (const { branch, limit, cells: rest } of others) {
    const cycle = limit ?? branch.parent?.cycle ?? 0;
    const { parent } = branch;
    const row = limit === undefined && parent !== null ? rowOnPath(parent.branchId, cycle) : 0;
    tracks.push({
      ...trackFacts(branch),
      row: rowOf.get(branch.branchId) ?? 0,
      cells: rest,
      parting: { row: row ?? 0, cycle },
    });
  }
  const trackOf = (branchId: number, cycle: number): Track | undefined => {
    const row = rowOnPath(branchId, cycle);
    return row === undefined ? undefined : tracks[row];
  };
  const cycles = tracks.flatMap(({ cells: [begin, ...rest] }) =>
    begin === undefined ? [] : [begin.cycle, rest.at(-1)?.cycle ?? begin.cycle],
  );
  const [first, last] = [Math.min(...cycles), Math.max(...cycles)];
  return cycles.length === 0
    ? { tracks, pathOf, trackOf, first: 1, last: 0 }
    : { tracks, pathOf, trackOf, first, last };
};

const isAbandoned = (branch: BranchNodeAnswer): boolean => branch.abandoned_by !== null;

const trackFacts = (branch: BranchNodeAnswer) => ({
  branchId: branch.branchId,
  branch: branch.branch,
  name: branchLabel(branch.branchId, branch.name),
  abandoned: isAbandoned(branch),
  description: branch.description,
});

export const hasFailed = ({ decided, call }: FilmCellAnswer): boolean =>
  (decided?.tools.some(({ state }) => state === 'failed') ?? false) ||
  (call !== null && call.status !== null && call.status !== 'answered' && call.status !== 'unknown');

/** What a call decided, in a few words: the names of its tools, or `answer`. */
export const decisionWords = ({ decided, call }: FilmCellAnswer): string => {
  if (decided === null) return call?.status === 'failed' || call?.status === 'timed out' ? call.status : '–';
  const names = decided.tools.map(({ name }) => (name === '' ? 'tool' : name));
  return names.length === 0 ? 'answer' : [...new Set(names)].join(' + ');
};

/** What a reader with a screen reader hears of a call. */
export const spokenCell = (cell: FilmCellAnswer, name: (n: number) => string): string => {
  const { cycle, tokens, came, left, interventions, compacted } = cell;
  return [
    `call ${cycle}: ${name(tokens)} tokens`,
    came === null ? '' : `${came.messages} new`,
    left === null ? '' : `${left.messages} left`,
    `decided ${decisionWords(cell)}${hasFailed(cell) ? ', failed' : ''}`,
    interventions.length > 0 ? 'after an intervention' : '',
    compacted ? 'after a compaction' : '',
  ]
    .filter((words) => words !== '')
    .join(', ');
};
