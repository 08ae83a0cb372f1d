import type { ComponentChildren } from 'preact';
import type { Address, Dialog, Go, Show } from './address.ts';
import { useLoaded } from '../asking/use-loaded.ts';
import type { PageView, ViewProps } from '../parts/page-view.ts';

/** The views by what the address calls them, with their words and keys. Each is fetched when it is first shown. */
const SHOWN: readonly (readonly [show: HistoryShow | null, words: string, key: string])[] = [
  ['call', 'Call', 'u'],
  [null, 'Context', 'x'],
  ['time', 'Time', 't'],
  ['compare', 'Compare', 'd'],
  ['rerun', 'Rerun', 'r'],
  ['pool', 'Pool', 'p'],
  ['branches', 'Branches', 'g'],
  ['calls', 'Calls', 'w'],
  ['stages', 'Stages', 's'],
  ['events', 'Events', 'e'],
  ['system', 'System', 'y'],
];

/** The views of one history; the table of runs is of all. */
export type HistoryShow = Exclude<Show, 'runs'>;

const LOADERS: Readonly<Record<HistoryShow, () => Promise<{ readonly View: PageView }>>> = {
  call: () => import('../card/call-card.tsx'),
  time: () => import('../time/time.tsx'),
  compare: () => import('../comparison/compare.tsx'),
  rerun: () => import('../reruns/reruns.tsx'),
  pool: () => import('../pool/pool.tsx'),
  branches: () => import('../branches/branches.tsx'),
  calls: () => import('../calls/calls.tsx'),
  stages: () => import('../stages/stages.tsx'),
  events: () => import('../calls/events.tsx'),
  system: () => import('../system/system.tsx'),
};

export const ShownView = ({
  show,
  ...props
}: ViewProps & { readonly show: HistoryShow }): ComponentChildren => {
  const { value, failed } = useLoaded(show, LOADERS[show]);
  if (failed === true)
    return (
      <p class="note failure" role="alert">
        This part of the page cannot be fetched: the server does not answer, or has another version. Load the
        page again.
      </p>
    );
  return value === undefined ? <p class="note pending">Loading…</p> : <value.View {...props} />;
};

/** The table of all runs. */
export const Runs = (props: { readonly address: Address; readonly go: Go }): ComponentChildren => {
  const { value, failed } = useLoaded('runs', () => import('../runs/runs.tsx'));
  if (failed === true)
    return <p class="note failure">The table of runs cannot be fetched. Load the page again.</p>;
  return value === undefined ? <p class="note pending">Loading…</p> : <value.RunsPage {...props} />;
};

/** The dialog in which somebody intervenes; the page shows what is behind it while it is fetched. */
export const Intervene = (props: ViewProps & { readonly dialog: Dialog }): ComponentChildren => {
  const { value } = useLoaded('intervene', () => import('../interventions/intervene.tsx'));
  return value === undefined ? null : <value.InterveneDialog {...props} />;
};

/** The views as a row of links, so that each opens in a tab of its own, too. */
export const Views = ({ address, go }: { readonly address: Address; readonly go: Go }): ComponentChildren => (
  <nav class="views" aria-label="Views">
    {SHOWN.map(([show, words, key]) => (
      <button
        key={words}
        class="tab"
        aria-current={address.show === show ? 'page' : undefined}
        title={`${words} (${key})`}
        onClick={() => go({ show, part: null })}
      >
        {words}
      </button>
    ))}
    <button
      class="plain intervene"
      title="Inject, edit, fork, roll back, run (a)"
      onClick={() => go({ dialog: 'inject' })}
    >
      Intervene…
    </button>
  </nav>
);
