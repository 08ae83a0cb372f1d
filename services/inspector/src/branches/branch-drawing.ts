import type { BranchNodeAnswer } from '@stemma/api';

/** A position on a branch that a click selects. `x` is in cycles; a position between two cycles is in the middle. */
export type Point = {
  readonly x: number;
  readonly label: string;
  /** Names under which it was saved. */
  readonly saved: readonly string[];
  /** Branches that leave here. */
  readonly branches: readonly BranchNodeAnswer[];
};

/** A branch as a line from left to right. */
export type DrawnBranch = {
  readonly node: BranchNodeAnswer;
  readonly from: number;
  readonly to: number;
  /** The position that a rollback returned to; what lies after it is abandoned. */
  readonly abandonedAt: number | null;
  readonly points: readonly Point[];
  /** The row of the parent; its own where there is none. */
  readonly parent: number;
};

/** All branches of a history from top to bottom; `last` is the newest cycle of any. */
export type Drawing = { readonly rows: readonly DrawnBranch[]; readonly last: number };

type CyclePosition = { readonly cycle: number | null; readonly label: string };

/** The x of a position: at its cycle if the position is its commit, else after it. */
export const positionX = ({ cycle, label }: CyclePosition): number =>
  label.startsWith('@c') ? (cycle ?? 0) : (cycle ?? 0) + 0.5;

/**
 * Draws branches so that no line crosses another: every branch is under its parent, and of two that leave the same one
 * the later in cycles is higher, so a branch that leaves earlier passes on its left.
 */
export const drawBranches = (branches: readonly BranchNodeAnswer[]): Drawing => {
  const children = new Map<number, BranchNodeAnswer[]>();
  const known = new Map(branches.map((node) => [node.branchId, node]));
  for (const node of branches) {
    if (node.parent === null) continue;
    const own = children.get(node.parent.branchId);
    if (own === undefined) children.set(node.parent.branchId, [node]);
    else own.push(node);
  }
  const rows: DrawnBranch[] = [];
  // A stack instead of recursion: forks of forks may go deep.
  const stack = branches
    .filter(({ parent }) => parent === null || !known.has(parent.branchId))
    .map((node) => ({ node, parent: -1 }))
    .reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node } = next;
    const row = rows.length;
    const childBranches = children.get(node.branchId) ?? [];
    const from = node.parent === null ? 0 : positionX(node.parent);
    const by = node.abandoned_by === null ? undefined : known.get(node.abandoned_by)?.parent;
    rows.push({
      node,
      from,
      to: Math.max(from, node.cycle ?? 0),
      abandonedAt: by == null ? null : positionX(by),
      points: pointsOf(node, childBranches),
      parent: next.parent === -1 ? row : next.parent,
    });
    // The stack gives back the last one first: the one that leaves last.
    for (const child of [...childBranches].sort(byForkPosition)) stack.push({ node: child, parent: row });
  }
  return { rows, last: rows.reduce((last, { from, to }) => Math.max(last, from, to), 0) };
};

/** The branches that are drawn if those under some are folded away, and how many leave each, directly or by way of others. */
export const foldBranches = (
  branches: readonly BranchNodeAnswer[],
  folded: ReadonlySet<number>,
): { readonly shown: readonly BranchNodeAnswer[]; readonly below: ReadonlyMap<number, number> } => {
  const known = new Map(branches.map((node) => [node.branchId, node]));
  const below = new Map<number, number>();
  const shown = branches.filter((node) => {
    let isHidden = false;
    for (const above of ancestorsOf(node, known)) {
      below.set(above, (below.get(above) ?? 0) + 1);
      isHidden ||= folded.has(above);
    }
    return !isHidden;
  });
  return { shown, below };
};

/** The branches that a branch leaves, the nearest first, as far as they are among the known ones. */
export const ancestorsOf = (
  node: BranchNodeAnswer,
  known: ReadonlyMap<number, BranchNodeAnswer>,
): readonly number[] => {
  const found: number[] = [];
  for (
    let at = node.parent;
    at !== null && known.has(at.branchId);
    at = known.get(at.branchId)?.parent ?? null
  )
    found.push(at.branchId);
  return found;
};

const byForkPosition = (a: BranchNodeAnswer, b: BranchNodeAnswer): number =>
  (a.parent === null ? 0 : positionX(a.parent)) - (b.parent === null ? 0 : positionX(b.parent)) ||
  b.branchId - a.branchId;

const pointsOf = (
  { saved }: BranchNodeAnswer,
  childBranches: readonly BranchNodeAnswer[],
): readonly Point[] => {
  const points = new Map<
    string,
    { x: number; label: string; saved: string[]; branches: BranchNodeAnswer[] }
  >();
  const at = (position: CyclePosition) => {
    const found = points.get(position.label) ?? {
      x: positionX(position),
      label: position.label,
      saved: [],
      branches: [],
    };
    points.set(position.label, found);
    return found;
  };
  for (const one of saved) at(one).saved.push(one.name);
  for (const one of childBranches) if (one.parent !== null) at(one.parent).branches.push(one);
  return [...points.values()].sort((a, b) => a.x - b.x);
};

/** A line from a parent down to a child, or what is in view of several that stand as one. In pixels across, and in rows. */
export type JoinLine = {
  readonly x: number;
  /** The row of the parent, or the first one in view above which it begins; the same of the child. */
  readonly from: number;
  readonly to: number;
};

/** Pixels: lines that would stand nearer than that are drawn as one. */
const LEAST_GAP = 3;

/**
 * The lines from parents to children as far as they are in view, those on the path to the position shown apart.
 *
 * @param place where a cycle stands, in pixels
 * @param seen rows, the last one excluded, and pixels across
 */
export const linesInView = (
  { rows }: Drawing,
  path: ReadonlyMap<number, number>,
  place: (x: number) => number,
  seen: { readonly first: number; readonly last: number; readonly left: number; readonly right: number },
): { readonly others: readonly JoinLine[]; readonly onPath: readonly JoinLine[] } => {
  const found: JoinLine[] = [];
  const onPath: JoinLine[] = [];
  for (let i = Math.max(1, seen.first); i < rows.length; i++) {
    const child = rows[i];
    if (child === undefined || child.parent === i || child.parent >= seen.last) continue;
    const x = place(child.from);
    if (x < seen.left - LEAST_GAP || x > seen.right + LEAST_GAP) continue;
    const from = Math.max(child.parent, seen.first - 1);
    const to = Math.min(i, seen.last);
    if (path.has(i)) onPath.push({ x, from, to });
    else found.push({ x: Math.round(x / LEAST_GAP) * LEAST_GAP, from, to });
  }
  found.sort((a, b) => a.x - b.x || a.from - b.from);
  const others: JoinLine[] = [];
  for (const line of found) {
    const last = others.at(-1);
    if (last === undefined || last.x !== line.x || last.to < line.from) others.push(line);
    else if (last.to < line.to) others[others.length - 1] = { ...last, to: line.to };
  }
  return { others, onPath };
};

/** Points that stand too near to each other to be told apart, as one. */
export type PointGroup = {
  /** Of the first one, in pixels. */
  readonly x: number;
  readonly points: readonly [Point, ...Point[]];
};

/** Pixels between two points that can both be clicked. */
export const APART = 12;

/** The points of a branch that are in view: those that stand too near to each other as one. They come from left to right. */
export const pointsInView = (
  points: readonly Point[],
  place: (x: number) => number,
  seen: { readonly left: number; readonly right: number },
): readonly PointGroup[] => {
  const groups: { x: number; points: [Point, ...Point[]] }[] = [];
  // Which stand together does not depend on what is in view, so nothing jumps while somebody scrolls.
  for (const point of points) {
    const x = place(point.x);
    const last = groups.at(-1);
    if (last !== undefined && x - last.x < APART) last.points.push(point);
    else groups.push({ x, points: [point] });
  }
  return groups.filter(({ x }) => x >= seen.left - APART && x <= seen.right + APART);
};

/** The path from the root to a position: the rows of its branches, each with the length of the path on it. */
export const pathToPosition = ({ rows }: Drawing, row: number, x: number): ReadonlyMap<number, number> => {
  const path = new Map<number, number>();
  let at = row;
  let limit = x;
  for (let drawn = rows[at]; drawn !== undefined; drawn = rows[at]) {
    // A position before the branch starts is on its parent.
    if (limit >= drawn.from) path.set(at, limit);
    limit = Math.min(limit, drawn.from);
    if (drawn.parent === at) break;
    at = drawn.parent;
  }
  return path;
};
