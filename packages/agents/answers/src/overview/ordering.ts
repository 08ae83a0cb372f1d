import { compareCodePoints } from '@stemma/canonical';
import type { HistoryFigures } from '@stemma/queries';
import { numberOf, type SeenHistory } from './matching.ts';

/** A history and what it is grouped by; null: nothing. */
export type GroupedHistory = SeenHistory & { readonly group: string | null };

const partsOf = (text: string): readonly string[] => text.match(/\d+|\D+/gu) ?? [];

/** Texts by their code points, but numbers in them by their size: `trial-2` before `trial-10`. */
const compareNames = (a: string, b: string): number => {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [one, other] = [left[i] ?? '', right[i] ?? ''];
    if (one === other) continue;
    const areNumbers = /^\d/u.test(one) && /^\d/u.test(other);
    const [x, y] = areNumbers ? [one, other].map((digits) => digits.replace(/^0+(?=\d)/u, '')) : [one, other];
    const order =
      (areNumbers ? (x ?? '').length - (y ?? '').length : 0) || compareCodePoints(x ?? '', y ?? '');
    if (order !== 0) return order;
  }
  return left.length - right.length || compareCodePoints(a, b);
};

/** The name, or the id of one that has none. */
const titleOf = ({ summary: { name, history } }: SeenHistory): string => name ?? history;

const byTitle = (a: SeenHistory, b: SeenHistory): number =>
  compareNames(titleOf(a), titleOf(b)) || compareCodePoints(a.summary.history, b.summary.history);

/** What is not known comes last, whichever way the others are ordered. */
export const orderBy = (sort: string): ((a: SeenHistory, b: SeenHistory) => number) => {
  const [field, sign] = sort.startsWith('-') ? [sort.slice(1), -1] : [sort, 1];
  if (field === 'name') return (a, b) => sign * byTitle(a, b);
  const valueOf = (seen: SeenHistory): number =>
    field === 'updated'
      ? seen.summary.updatedAt
      : field === 'started'
        ? seen.summary.startedAt
        : numberOf(seen, field as Parameters<typeof numberOf>[1]);
  return (a, b) => {
    const [x, y] = [valueOf(a), valueOf(b)];
    if (Number.isNaN(x) || Number.isNaN(y))
      return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || byTitle(a, b);
    return sign * (x - y) || byTitle(a, b);
  };
};

/** Groups stand where their first row stands, whole; a history without a group stands alone. */
export const inGroups = (
  seen: readonly SeenHistory[],
  group: string,
  order: (a: SeenHistory, b: SeenHistory) => number,
): readonly GroupedHistory[] => {
  const grouped = [...seen]
    .sort(order)
    .map((each): GroupedHistory => ({ ...each, group: keyOf(each, group) }));
  if (group === 'none') return grouped;
  const groups = new Map<string, GroupedHistory[]>();
  for (const each of grouped) {
    const key = each.group ?? each.summary.history;
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [each]);
    else members.push(each);
  }
  return [...groups.values()].flatMap((members) =>
    members.length > 1 || group.startsWith('label:')
      ? members
      : members.map((one) => ({ ...one, group: null })),
  );
};

const keyOf = ({ summary, figures }: SeenHistory, group: string): string | null => {
  const labelled = (wanted: string): string | null =>
    summary.labels.find(({ label }) => label === wanted)?.value ?? null;
  if (group === 'task') return labelled('task') ?? taskIn(summary.name) ?? figures.beginning;
  return group === 'beginning' ? figures.beginning : labelled(group.slice('label:'.length));
};

const TRIAL = /^(.*?[^\s._/-])[\s._/-]+(?:(?:trial|run|try|attempt|seed|sample|epoch)[\s._/-]*)?\d+$/iu;

/** `task-00` of `task-00-trial-3`; null: the name ends with no number. */
const taskIn = (name: string | null): string | null => TRIAL.exec(name ?? '')?.[1] ?? null;

/** The history of each group that the others are compared with: the first by name. */
export const firstOfGroups = (grouped: readonly GroupedHistory[]): ReadonlyMap<string, GroupedHistory> => {
  const firsts = new Map<string, GroupedHistory>();
  for (const each of grouped) {
    if (each.group === null) continue;
    const first = firsts.get(each.group);
    if (first === undefined || byTitle(each, first) < 0) firsts.set(each.group, each);
  }
  return firsts;
};

/** The first call that decides otherwise, by the names of tools; null: none does. */
export const partsFrom = (
  { main: here }: HistoryFigures,
  { main: there }: HistoryFigures,
): { readonly label: string; readonly here: string; readonly there: string } | null => {
  for (let i = 0; i < Math.max(here.length, there.length); i++) {
    const [own, other] = [here[i], there[i]];
    if (own?.what === other?.what) continue;
    return {
      label: `@c${own?.cycle ?? (here.at(-1)?.cycle ?? -1) + 1}`,
      here: own?.what ?? '(ended)',
      there: other?.what ?? '(ended)',
    };
  }
  return null;
};
