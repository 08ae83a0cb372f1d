import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Address, Dialog, Go, Show } from './address.ts';
import { useLoaded } from '../asking/use-loaded.ts';
import { moveItem } from '../parts/one-stop.ts';
import type { PageView, ViewProps } from '../parts/page-view.ts';

type ShownAs = readonly [show: HistoryShow | null, words: string, key: string];

/** The views for every day by what the address calls them, with their words and keys. Each is fetched when it is first shown. */
const DAILY: readonly ShownAs[] = [
  ['call', 'Call', 'u'],
  [null, 'Context', 'x'],
  ['compare', 'Compare', 'd'],
  ['rerun', 'Rerun', 'r'],
];

/** Those that the menu has. */
const RARE: readonly ShownAs[] = [
  ['calls', 'Calls', 'w'],
  ['time', 'Time', 't'],
  ['branches', 'Drawing of the branches', 'g'],
  ['pool', 'Pool', 'p'],
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

/** The views for every day as a row, with the rare one that is shown; the others are in a menu. */
export const Views = ({ address, go }: { readonly address: Address; readonly go: Go }): ComponentChildren => (
  <nav class="views" aria-label="Views">
    {[...DAILY, ...RARE.filter(([show]) => show === address.show)].map(([show, words, key]) => (
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
    <More shown={address.show} choose={(show) => go({ show, part: null })} />
    <button
      class="plain intervene"
      title="Inject, edit, fork, roll back, run (a)"
      onClick={() => go({ dialog: 'inject' })}
    >
      Intervene…
    </button>
  </nav>
);

/** The menu of the rare views; the key of each works without it. */
const More = ({
  shown,
  choose,
}: {
  readonly shown: Show | null;
  readonly choose: (show: HistoryShow | null) => void;
}): ComponentChildren => {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => setOpen(false), [shown]);
  useEffect(() => {
    if (isOpen) box.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
  }, [isOpen]);
  const close = (): void => {
    setOpen(false);
    box.current?.querySelector<HTMLElement>('button')?.focus();
  };
  return (
    <span
      ref={box}
      class="more-views"
      onFocusOut={({ relatedTarget }) => {
        if (!(relatedTarget instanceof Node) || box.current?.contains(relatedTarget) !== true) setOpen(false);
      }}
    >
      <button
        class="tab"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        title="The other views"
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => setOpen(!isOpen)}
      >
        More ▾
      </button>
      {isOpen && (
        <div
          class="more-menu"
          role="menu"
          aria-label="More views"
          onKeyDown={(event) => {
            moveItem(event, event.currentTarget, '[role="menuitem"]');
            if (event.key !== 'Escape') return;
            event.preventDefault();
            close();
          }}
        >
          {RARE.map(([show, words, key]) => (
            <button
              key={words}
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close();
                choose(show);
              }}
            >
              {words} <kbd>{key}</kbd>
            </button>
          ))}
        </div>
      )}
    </span>
  );
};
