import { PAGE_VIEWS } from '@stemma/api';
import { useEffect, useState } from 'preact/hooks';

/** What the right pane shows. On a narrow screen `tree` shows the tree in its place. */
export const VIEWS = ['thread', 'bytes', 'openai', 'tree'] as const;
export type View = (typeof VIEWS)[number];

/** What the column beside the view lists; without one there is none. */
export const SIDES = ['cycles', 'branches', 'interventions'] as const;
export type Side = (typeof SIDES)[number];

/** What fills the middle of the page in place of the context at one position. */
export const SHOWS = PAGE_VIEWS;
export type Show = (typeof SHOWS)[number];

/** What somebody does to a branch, as the dialog that is open. */
export const DIALOGS = [
  'inject',
  'edit',
  'remove',
  'fork',
  'rollback',
  'save',
  'annotate',
  'run',
  'retry',
  'break',
  'release',
  'ask',
] as const;
export type Dialog = (typeof DIALOGS)[number];

/** What the page shows, kept in its address, so that it can be shared and the back button works. */
export type Address = {
  /** A history or branch by id or name; null: none is chosen. */
  readonly history: string | null;
  /** A reference (`@c12`), `open` for the working state, or null for the newest snapshot. */
  readonly at: string | null;
  readonly node: string | null;
  readonly view: View;
  /** Texts are shown as they are, or as the Markdown or JSON that they may be. */
  readonly texts: 'plain' | 'rendered';
  /** Null: nothing is listed beside the view. */
  readonly side: Side | null;
  /** An intervention by its id. */
  readonly intervention: string | null;
  /** Only interventions of this type, and of this actor. */
  readonly type: string | null;
  readonly actor: string | null;
  /** What is looked for in all histories; null: the search is not open. */
  readonly find: string | null;
  /** Finds nodes of the tree. */
  readonly select: string | null;
  /** Null: the context at one position. */
  readonly show: Show | null;
  /** The other point of the time view. */
  readonly other: string | null;
  /** The older call (`@c8`) that the one shown is compared with; null: the one before. */
  readonly since: string | null;
  /** The two sides of a comparison, and which part of it is shown. */
  readonly a: string | null;
  readonly b: string | null;
  readonly part: string | null;
  /** Which of the things that a view lists it shows, in words of its own. */
  readonly filter: string | null;
  /** In the table of runs: what is looked for, its order and groups, and the only runs that it shows, by ids with commas between. */
  readonly q: string | null;
  readonly sort: string | null;
  readonly group: string | null;
  readonly of: string | null;
  /** The runs that somebody ticked. */
  readonly ticked: string | null;
  /** Null: no dialog is open. */
  readonly dialog: Dialog | null;
  /** Only interventions of this branch, from this time on and before that one. */
  readonly on: string | null;
  readonly after: string | null;
  readonly before: string | null;
};

export const parseAddress = (search: string): Address => {
  const query = new URLSearchParams(search);
  return {
    history: query.get('h'),
    at: query.get('at'),
    node: query.get('node'),
    view: VIEWS.find((one) => one === query.get('view')) ?? 'thread',
    texts: query.get('texts') === 'rendered' ? 'rendered' : 'plain',
    side: SIDES.find((one) => one === query.get('side')) ?? null,
    intervention: query.get('intervention'),
    type: query.get('type'),
    actor: query.get('actor'),
    find: query.get('find'),
    select: query.get('select'),
    show: SHOWS.find((one) => one === query.get('show')) ?? null,
    other: query.get('other'),
    a: query.get('a'),
    b: query.get('b'),
    part: query.get('part'),
    filter: query.get('filter'),
    dialog: DIALOGS.find((one) => one === query.get('dialog')) ?? null,
    q: query.get('q'),
    sort: query.get('sort'),
    group: query.get('group'),
    of: query.get('of'),
    ticked: query.get('t'),
    on: query.get('on'),
    since: query.get('since'),
    after: query.get('after'),
    before: query.get('before'),
  };
};

export const printAddress = ({ history, side, view, texts, ...rest }: Address): string => {
  const query = new URLSearchParams();
  const {
    at,
    type,
    actor,
    intervention,
    node,
    find,
    select,
    show,
    a,
    b,
    part,
    filter,
    other,
    on,
    since,
    after,
    before,
    dialog,
    q,
    sort,
    group,
    of,
    ticked,
  } = rest;
  const given = {
    ...{ h: history, show, at, since, side, type, actor, on, after, before },
    ...{ intervention, node, select, find, a, b, part, filter, other, dialog },
    ...{ q, sort, group, of, t: ticked },
  };
  for (const [key, value] of Object.entries(given)) if (value !== null) query.set(key, value);
  if (view !== 'thread') query.set('view', view);
  if (texts !== 'plain') query.set('texts', texts);
  const text = query.toString().replaceAll('%40', '@').replaceAll('%3A', ':');
  return text === '' ? './' : `?${text}`;
};

export type Go = (change: Partial<Address>, how?: 'push' | 'replace') => void;

/**
 * The address after a change: another branch shows its newest snapshot, in another history nothing is chosen or
 * filtered, and a node and an intervention are not shown side by side.
 */
export const change = (now: Address, to: Partial<Address>): Address => {
  const moved = to.history !== undefined && to.history !== now.history;
  const shows = to.show !== undefined && to.show !== now.show;
  const away = moved && rootOf(to.history ?? null) !== rootOf(now.history);
  return {
    ...now,
    ...(moved ? { at: null, node: null, other: null, since: null, dialog: null } : {}),
    ...(moved || shows ? { filter: null } : {}),
    ...(away ? { ...NO_FILTER, intervention: null, select: null, a: null, b: null } : {}),
    ...(to.node == null ? {} : { intervention: null }),
    ...(to.intervention == null ? {} : { node: null }),
    ...to,
  };
};

/** Every intervention is listed. */
export const NO_FILTER = { type: null, actor: null, on: null, after: null, before: null } as const;

/** The history in the id of one of its branches; a name is returned unchanged. */
const rootOf = (history: string | null): string | null =>
  /^(h[a-z2-7]{20}):\d+$/.exec(history ?? '')?.[1] ?? history;

/** The address, and how to go elsewhere. */
export const useAddress = (): readonly [Address, Go] => {
  const [address, setAddress] = useState(() => parseAddress(location.search));
  useEffect(() => {
    const changed = (): void => setAddress(parseAddress(location.search));
    addEventListener('popstate', changed);
    return () => removeEventListener('popstate', changed);
  }, []);
  const go: Go = (to, how = 'push') => {
    const now = parseAddress(location.search);
    const next = change(now, to);
    if (printAddress(next) === printAddress(now)) return;
    history[how === 'push' ? 'pushState' : 'replaceState'](null, '', printAddress(next));
    setAddress(next);
  };
  return [address, go];
};
