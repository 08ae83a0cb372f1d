import type { BranchNodeAnswer, FilmCellAnswer } from '@stemma/api';
import type { Go } from '../page/address.ts';
import type { Looking } from '../cycles/use-cycles.ts';
import type { Film } from './film-tracks.ts';

/** The call that is shown, and what keys and the pointer do from there. */
export type Chosen = {
  readonly cycle: number;
  readonly row: number;
  /** Null: the working state, behind the newest call. */
  readonly cell: FilmCellAnswer | null;
  /** The older call that it is compared with. */
  readonly since: number | null;
  readonly isLast: boolean;
  /** The calls of the branch, oldest first. */
  readonly path: readonly FilmCellAnswer[];
  /** Shows a call of a row; the branch stays if it has the call. */
  choose(go: Go, cycle: number, row: number, how: 'push' | 'replace'): void;
  chooseFirst(go: Go): void;
  step(go: Go, by: number): void;
  /** The next call of which it is true, or of the first ones if there is none behind; undefined: it is true of none. */
  nextWhere(is: (cell: FilmCellAnswer) => boolean): FilmCellAnswer | undefined;
  show(go: Go, cell: FilmCellAnswer): void;
  chooseSince(go: Go, cycle: number): void;
  stepSince(go: Go, by: number): void;
  changeTrack(go: Go, by: 1 | -1): void;
};

const cycleIn = (reference: string | null): number | null => {
  const cycle = /^@c(\d{1,15})$/.exec(reference ?? '')?.[1];
  return cycle === undefined ? null : Number(cycle);
};

/** The call in the address, of a branch of the film. */
export const chosenIn = (
  film: Film,
  branches: readonly BranchNodeAnswer[],
  branch: string,
  looking: Looking | null,
  since: string | null,
): Chosen => {
  const id = /:(\d+)$/.exec(branch)?.[1];
  const own =
    branches.find((one) => one.branch === branch) ??
    branches.find(({ branchId: of }) => String(of) === id) ??
    branches[0];
  const branchId = own?.branchId ?? 0;
  const path = film.pathOf(branchId);
  const last = path.at(-1);
  const isOpen = looking !== null && looking.reference === undefined;
  const cycle = isOpen ? (last?.cycle ?? film.first - 1) + 1 : (looking?.cycle ?? last?.cycle ?? film.first);
  const cell = isOpen ? null : (path.find((each) => each.cycle === cycle) ?? null);
  const track = film.trackOf(branchId, isOpen ? cycle - 1 : cycle);
  const row = track?.row ?? film.tracks.find((each) => each.branchId === branchId)?.row ?? 0;
  const older = cycleIn(since);

  const show = (go: Go, to: FilmCellAnswer | undefined, how: 'push' | 'replace', at?: string): void => {
    if (to !== undefined) go({ ...(at === undefined ? {} : { history: at }), at: `@c${to.cycle}` }, how);
  };
  const near = (cells: readonly FilmCellAnswer[], wanted: number): FilmCellAnswer | undefined => {
    const first = cells[0]?.cycle ?? 0;
    return cells[Math.max(0, Math.min(cells.length - 1, wanted - first))];
  };
  const index = cell === null ? path.length : path.indexOf(cell);
  return {
    ...{ cycle, row, cell, path },
    since: older !== null && older < cycle ? older : null,
    isLast: isOpen || cell === last,
    choose: (go, wanted, wantedRow, how) => {
      const onPath = path.find((each) => each.cycle === wanted);
      const target = film.tracks[wantedRow];
      const isHere = onPath !== undefined && film.trackOf(branchId, wanted)?.row === wantedRow;
      if (isHere || target === undefined) show(go, onPath, how);
      else if (wantedRow === row) show(go, near(path, wanted), how);
      else show(go, near(target.cells, wanted), how, target.branch);
    },
    chooseFirst: (go) => show(go, path[0], 'replace'),
    step: (go, by) => show(go, path[Math.max(0, Math.min(path.length - 1, index + by))], 'replace'),
    nextWhere: (is) =>
      path.find((one, i) => i > index && is(one)) ?? path.find((one, i) => i < index && is(one)),
    show: (go, to) => show(go, to, 'replace'),
    chooseSince: (go, wanted) => {
      if (wanted === cycle) go({ since: null }, 'push');
      else if (wanted < cycle) go({ since: `@c${wanted}` }, 'push');
      else go({ since: `@c${cycle}`, at: `@c${wanted}` }, 'push');
    },
    stepSince: (go, by) => {
      const from = older !== null && older < cycle ? older : cycle - 1;
      const to = near(path, Math.min(cycle - 1, from + by));
      if (to !== undefined && to.cycle < cycle) go({ since: `@c${to.cycle}` }, 'replace');
    },
    changeTrack: (go, by) => {
      const beside = film.tracks.filter(
        (each) => each.row === 0 || each.row === row || each.cells.some((one) => one.cycle === cycle),
      );
      const at = beside.findIndex((each) => each.row === row);
      const target = beside[Math.max(0, Math.min(beside.length - 1, at + by))];
      if (target !== undefined && target.row !== row)
        show(
          go,
          near(target.row === 0 ? target.cells : film.pathOf(target.branchId), cycle),
          'replace',
          target.branch,
        );
    },
  };
};
