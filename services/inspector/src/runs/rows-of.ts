import type { OverviewRow } from '@stemma/api';

/** What stands above the rows of a group. */
export type GroupHead = {
  readonly kind: 'group';
  readonly group: string;
  readonly title: string;
  readonly members: readonly OverviewRow[];
};

export type TableRow = GroupHead | { readonly kind: 'run'; readonly row: OverviewRow };

/** The rows as the server orders them, with a head before those of one group. */
export const rowsOf = (rows: readonly OverviewRow[]): readonly TableRow[] => {
  const found: TableRow[] = [];
  for (let at = 0; at < rows.length;) {
    const first = rows[at];
    if (first === undefined) break;
    let end = at + 1;
    if (first.group !== null) while (rows[end]?.group === first.group) end++;
    const members = rows.slice(at, end);
    if (first.group !== null)
      found.push({ kind: 'group', group: first.group, title: titleOf(first), members });
    for (const row of members) found.push({ kind: 'run', row });
    at = end;
  }
  return found;
};

/** A group by its beginning has a hash for a name. */
const titleOf = ({ group, preview }: OverviewRow): string =>
  group === null || /^[0-9a-f]{64}$/.test(group) ? (preview ?? 'the same beginning') : group;

/** `11–22`, or the one number that all have. */
export const rangeOf = (numbers: readonly number[]): string => {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return least === most ? String(least) : `${least}–${most}`;
};

/** The query with a filter, or without it if it has it. */
export const toggled = (q: string, filter: string): string =>
  hasFilter(q, filter)
    ? partsOf(q)
        .filter((part) => part !== filter)
        .join(' ')
    : [q.trim(), filter].filter((part) => part !== '').join(' ');

export const hasFilter = (q: string, filter: string): boolean => partsOf(q).includes(filter);

const partsOf = (q: string): readonly string[] => q.match(/-?(?:[a-z]+:)?(?:"[^"]*"?|[^\s"]+)/gu) ?? [];
