import { useEffect, useState } from 'preact/hooks';

/** What the right pane shows. On a narrow screen `tree` shows the tree in its place. */
export const VIEWS = ['thread', 'bytes', 'openai', 'tree'] as const;
export type View = (typeof VIEWS)[number];

/** What is being looked at, as it stands in the address of the page: so it can be shared, and the back button works. */
export type Address = {
  /** A history or lineage by id or name; null: none is chosen. */
  readonly history: string | null;
  /** A reference (`@c12`), `open` for the working state, or null: the newest snapshot, whichever that is. */
  readonly at: string | null;
  readonly node: string | null;
  readonly view: View;
};

export const parseAddress = (search: string): Address => {
  const query = new URLSearchParams(search);
  const view = query.get('view');
  return {
    history: query.get('h'),
    at: query.get('at'),
    node: query.get('node'),
    view: VIEWS.find((one) => one === view) ?? 'thread',
  };
};

export const printAddress = ({ history, at, node, view }: Address): string => {
  const query = new URLSearchParams();
  if (history !== null) query.set('h', history);
  if (at !== null) query.set('at', at);
  if (node !== null) query.set('node', node);
  if (view !== 'thread') query.set('view', view);
  const text = query.toString().replaceAll('%40', '@').replaceAll('%3A', ':');
  return text === '' ? './' : `?${text}`;
};

export type Go = (change: Partial<Address>, how?: 'push' | 'replace') => void;

/** The address, and how to go elsewhere. Another history is looked at from its newest snapshot. */
export const useAddress = (): readonly [Address, Go] => {
  const [address, setAddress] = useState(() => parseAddress(location.search));
  useEffect(() => {
    const changed = (): void => setAddress(parseAddress(location.search));
    addEventListener('popstate', changed);
    return () => removeEventListener('popstate', changed);
  }, []);
  const go: Go = (change, how = 'push') => {
    const now = parseAddress(location.search);
    const moved =
      change.history !== undefined && change.history !== now.history ? { at: null, node: null } : {};
    const next = { ...now, ...moved, ...change };
    if (printAddress(next) === printAddress(now)) return;
    history[how === 'push' ? 'pushState' : 'replaceState'](null, '', printAddress(next));
    setAddress(next);
  };
  return [address, go];
};
