import type { LineageNode } from '@stemma/api';

/** A place on a lineage that one can go to. `x`: in cycles; between two of them it lies in the middle. */
export type Point = {
  readonly x: number;
  readonly label: string;
  /** Names under which it was saved. */
  readonly saved: readonly string[];
  /** Lineages that leave here. */
  readonly leaving: readonly LineageNode[];
};

/** A lineage as a line from left to right. */
export type DrawnLineage = {
  readonly node: LineageNode;
  readonly from: number;
  readonly to: number;
  /** Where a rollback went on instead; what lies behind it is abandoned. */
  readonly left: number | null;
  readonly points: readonly Point[];
  /** The row of the parent; its own where there is none. */
  readonly parent: number;
};

/** All lineages of a history from top to bottom; `last` is the newest cycle of any. */
export type Drawing = { readonly rows: readonly DrawnLineage[]; readonly last: number };

type Place = { readonly cycle: number | null; readonly label: string };

/** Where a position lies: at its cycle if that is committed there, else behind it. */
export const placeX = ({ cycle, label }: Place): number =>
  label.startsWith('@c') ? (cycle ?? 0) : (cycle ?? 0) + 0.5;

/**
 * Draws lineages so that no line crosses another: every lineage stands under its parent, and of two that leave the same one
 * the later in cycles stands higher, so what leaves before it passes on its left.
 */
export const drawLineages = (lineages: readonly LineageNode[]): Drawing => {
  const children = new Map<number, LineageNode[]>();
  const known = new Map(lineages.map((node) => [node.strand, node]));
  for (const node of lineages) {
    if (node.parent === null) continue;
    const own = children.get(node.parent.strand);
    if (own === undefined) children.set(node.parent.strand, [node]);
    else own.push(node);
  }
  const rows: DrawnLineage[] = [];
  // A stack instead of recursion: forks of forks may go deep.
  const stack = lineages
    .filter(({ parent }) => parent === null || !known.has(parent.strand))
    .map((node) => ({ node, parent: -1 }))
    .reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node } = next;
    const row = rows.length;
    const leaving = children.get(node.strand) ?? [];
    const from = node.parent === null ? 0 : placeX(node.parent);
    const by = node.left_by === null ? undefined : known.get(node.left_by)?.parent;
    rows.push({
      node,
      from,
      to: Math.max(from, node.cycle ?? 0),
      left: by == null ? null : placeX(by),
      points: pointsOf(node, leaving),
      parent: next.parent === -1 ? row : next.parent,
    });
    // The stack gives back the last one first: the one that leaves last.
    for (const child of [...leaving].sort(byPlace)) stack.push({ node: child, parent: row });
  }
  return { rows, last: rows.reduce((last, { from, to }) => Math.max(last, from, to), 0) };
};

const byPlace = (a: LineageNode, b: LineageNode): number =>
  (a.parent === null ? 0 : placeX(a.parent)) - (b.parent === null ? 0 : placeX(b.parent)) ||
  b.strand - a.strand;

const pointsOf = ({ saved }: LineageNode, leaving: readonly LineageNode[]): readonly Point[] => {
  const points = new Map<string, { x: number; label: string; saved: string[]; leaving: LineageNode[] }>();
  const at = (place: Place) => {
    const found = points.get(place.label) ?? {
      x: placeX(place),
      label: place.label,
      saved: [],
      leaving: [],
    };
    points.set(place.label, found);
    return found;
  };
  for (const one of saved) at(one).saved.push(one.name);
  for (const one of leaving) if (one.parent !== null) at(one.parent).leaving.push(one);
  return [...points.values()].sort((a, b) => a.x - b.x);
};

/** The lines from parents to children that pass a row between them, or begin at it, by where they are. */
export const passing = (
  { rows }: Drawing,
  row: number,
  path: ReadonlyMap<number, number>,
): readonly { readonly x: number; readonly begins: boolean; readonly onPath: boolean }[] => {
  const found = new Map<number, { x: number; begins: boolean; onPath: boolean }>();
  for (let i = row + 1; i < rows.length; i++) {
    const child = rows[i];
    if (child === undefined || child.parent > row) continue;
    const known = found.get(child.from);
    found.set(child.from, {
      x: child.from,
      begins: (known?.begins ?? true) && child.parent === row,
      onPath: (known?.onPath ?? false) || path.has(i),
    });
  }
  return [...found.values()];
};

/** The way from the root to a place of a lineage: rows of the lineages on it, each with how far it goes along it. */
export const pathTo = ({ rows }: Drawing, row: number, x: number): ReadonlyMap<number, number> => {
  const path = new Map<number, number>();
  let at = row;
  let reach = x;
  for (let drawn = rows[at]; drawn !== undefined; drawn = rows[at]) {
    // A place before its beginning is one of its parent.
    if (reach >= drawn.from) path.set(at, reach);
    reach = Math.min(reach, drawn.from);
    if (drawn.parent === at) break;
    at = drawn.parent;
  }
  return path;
};
