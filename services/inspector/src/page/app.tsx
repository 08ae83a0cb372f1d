import type { HistorySummaryAnswer, SnapshotPage } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useAddress, type Address, type Go, type View } from './address.ts';
import { isChosen } from './chosen.ts';
import { Head } from './head.tsx';
import { FaultPage, useFault } from './fault-page.tsx';
import { Histories, useHistories } from './histories.tsx';
import { KeysHelp, useKeys, type KeyAction } from './keys.tsx';
import { Legend } from './legend.tsx';
import type { Live } from './live.ts';
import { MainPanes } from './main-panes.tsx';
import { Palette } from './palette.tsx';
import { SearchDialog } from '../search/search.tsx';
import { Intervene, Runs, ShownView, Views } from './shown-views.tsx';
import { SidePanel } from './side.tsx';
import { Filmstrip } from '../filmstrip/filmstrip.tsx';
import { lookingAt, useHead, type Looking } from '../cycles/use-cycles.ts';
import { QueriesContext, type Queries } from '../asking/queries.ts';

export const App = ({
  queries,
  live,
}: {
  readonly queries: Queries;
  readonly live: Live;
}): ComponentChildren => (
  <QueriesContext.Provider value={queries}>
    <Page live={live} />
  </QueriesContext.Provider>
);

const Page = ({ live }: { readonly live: Live }): ComponentChildren => {
  const [address, go] = useAddress();
  const [help, setHelp] = useState(false);
  const [legend, setLegend] = useState(false);
  const [palette, setPalette] = useState(false);
  const histories = useHistories(1);
  const list = histories.state === 'done' ? histories.value.histories : [];
  const head = useHead(address.history);
  const looking = lookingAt(head, address.at);
  const page = head.state === 'done' ? head.value : undefined;
  const fault = useFault(address.history, { histories, head, looking });

  // Who says nothing about what to see is shown the table of all runs; of one run its newest call.
  const newest = list[0]?.history;
  const isNew = location.search === '';
  useEffect(() => {
    if (address.history !== null || address.show === 'runs' || newest === undefined) return;
    if (isNew && list.length > 1) go({ show: 'runs' }, 'replace');
    else go({ history: newest, ...(isNew ? { show: 'call' } : {}) }, 'replace');
  }, [address.history, address.show, newest]);

  const shown = shownBranch(page, address.history);
  const summary = list.find((one) => isChosen(one, address.history));

  const isRuns = address.show === 'runs';

  const run = (action: KeyAction): void => {
    if (action === 'help') setHelp(!help);
    else if (action === 'legend') setLegend(!legend);
    else if (action === 'palette') setPalette(true);
    else runAction(action, { address, go, list, looking, page });
  };
  useKeys(run);

  return (
    <div
      class={
        isRuns
          ? 'app app-runs'
          : `app ${address.side === null ? 'no-side' : `with-${address.side}`}${address.show === null ? '' : ' shows-view'}`
      }
    >
      <Head
        summary={summary}
        chosen={address.history}
        live={live}
        choose={(history) => go({ history })}
        help={() => setHelp(true)}
        legend={() => setLegend(true)}
        find={() => go({ find: '' })}
        isRuns={isRuns}
        title={isRuns ? ['Runs'] : [looking?.reference, summary?.name ?? address.history]}
        go={go}
      />
      {address.show === 'runs' ? (
        <Runs address={address} go={go} />
      ) : (
        <>
          <Histories chosen={address.history} choose={(history) => go({ history })} />
          {shown !== null && <Filmstrip address={address} {...shown} looking={looking} go={go} />}
          {address.history !== null && (
            <SidePanel
              head={head}
              looking={looking}
              address={{ ...address, history: address.history }}
              go={go}
            />
          )}
          <main
            class="main"
            aria-label={address.show === null ? 'Context at the chosen cycle' : address.show}
          >
            {address.history !== null && <Views address={address} go={go} />}
            {fault !== null ? (
              <FaultPage fault={fault} head={head} go={go} />
            ) : address.show !== null && address.history !== null ? (
              <ShownView
                show={address.show}
                address={{ ...address, history: address.history }}
                head={head}
                looking={looking}
                live={live}
                go={go}
              />
            ) : address.history === null ? (
              <Welcome loaded={histories.state === 'done'} />
            ) : looking === null ? (
              <p class="note pending">Loading…</p>
            ) : (
              <MainPanes history={address.history} looking={looking} head={head} address={address} go={go} />
            )}
          </main>
        </>
      )}
      {address.find !== null && <SearchDialog text={address.find} go={go} />}
      {address.dialog !== null && address.history !== null && (
        <Intervene
          dialog={address.dialog}
          address={{ ...address, history: address.history }}
          head={head}
          looking={looking}
          live={live}
          go={go}
        />
      )}
      {palette && (
        <Palette
          histories={list}
          hasHistory={address.history !== null}
          run={run}
          go={go}
          close={() => setPalette(false)}
        />
      )}
      {legend && <Legend close={() => setLegend(false)} />}
      {help && <KeysHelp close={() => setHelp(false)} />}
    </div>
  );
};

/** The branch that the address names: an id says it before the server does, so that the strip stays while a branch is changed. */
const shownBranch = (
  page: SnapshotPage | undefined,
  asked: string | null,
): { readonly history: string; readonly branch: string } | null => {
  if (page !== undefined) return { history: page.history, branch: page.branch };
  const history = /^(h[a-z2-7]{20})(?::\d+)?$/.exec(asked ?? '')?.[1];
  return history === undefined || asked === null ? null : { history, branch: asked };
};

const Welcome = ({ loaded }: { readonly loaded: boolean }): ComponentChildren => (
  <div class="note welcome">
    {loaded ? (
      <>
        <h2>What was the model shown?</h2>
        <p>
          Import a recorded conversation, and every call in it appears here: the tree of its context, the
          exact bytes of the thread, and what was new.
        </p>
        <pre>./stemma import conversation.json</pre>
      </>
    ) : (
      <p>Loading…</p>
    )}
  </div>
);

type Scene = {
  readonly address: Address;
  readonly go: Go;
  readonly list: readonly HistorySummaryAnswer[];
  readonly looking: Looking | null;
  readonly page: SnapshotPage | undefined;
};

const VIEW_ORDER: readonly View[] = ['thread', 'bytes', 'openai'];

const runAction = (
  action: Exclude<KeyAction, 'help' | 'legend' | 'palette'>,
  { address, go, list, looking, page }: Scene,
): void => {
  switch (action) {
    case 'older':
    case 'newer':
      stepCycle(action === 'older' ? 1 : -1, { go, looking, page });
      return;
    case 'above':
    case 'below': {
      const now = list.findIndex((one) => isChosen(one, address.history));
      const next = list[Math.max(0, Math.min(list.length - 1, now + (action === 'below' ? 1 : -1)))];
      if (next !== undefined) go({ history: next.history });
      return;
    }
    case 'follow':
      go({ at: null });
      return;
    case 'open':
      go({ at: 'open' });
      return;
    case 'view':
      go({ view: VIEW_ORDER[(VIEW_ORDER.indexOf(address.view) + 1) % VIEW_ORDER.length] ?? 'thread' });
      return;
    case 'texts':
      go({ texts: address.texts === 'rendered' ? 'plain' : 'rendered' }, 'replace');
      return;
    case 'close':
      go({ node: null, intervention: null });
      return;
    case 'find':
      go({ find: '' });
      return;
    case 'select':
      go({ show: null });
      setTimeout(() => document.querySelector<HTMLElement>('.selector-bar input')?.focus());
      return;
    case 'intervene':
      go({ dialog: 'inject' });
      return;
    case 'context':
      go({ show: null });
      return;
    case 'compare':
      // Two calls that are chosen on the strip are compared.
      go({
        ...{ show: 'compare', part: null, type: null },
        ...(address.since === null ? {} : { a: address.since, b: looking?.reference ?? null }),
      });
      return;
    case 'runs':
      go({ show: 'runs', part: null, type: null });
      return;
    case 'call':
    case 'time':
    case 'rerun':
    case 'pool':
    case 'branch-drawing':
    case 'calls':
    case 'stages':
    case 'events':
    case 'system':
      go({ show: action === 'branch-drawing' ? 'branches' : action, part: null, type: null });
      return;
    case 'cycles':
    case 'branches':
    case 'interventions':
      go({ side: address.side === action ? null : action });
      return;
  }
};

/** Moves one cycle older or newer. The draft is beyond the newest snapshot; one step back from it is the newest. */
const stepCycle = (step: 1 | -1, { go, looking, page }: Pick<Scene, 'go' | 'looking' | 'page'>): void => {
  if (page?.newest == null || page.oldest === null || looking === null) return;
  const now = looking.reference === undefined ? page.newest + 1 : looking.cycle;
  const next = now === null ? page.newest : Math.max(page.oldest, now - step);
  go({ at: next > page.newest ? 'open' : `@c${next}` }, 'replace');
};
