import type { SnapshotPage } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Address, Go, Side } from './address.ts';
import { positionX } from '../branches/branch-drawing.ts';
import { BranchesPanel } from '../branches/branches-panel.tsx';
import { Cycles } from '../cycles/cycles.tsx';
import { Interventions } from '../interventions/interventions.tsx';
import { Shown } from '../asking/states.tsx';
import type { Looking } from '../cycles/use-cycles.ts';
import { useQuery, type Query } from '../asking/queries.ts';

const TABS: readonly (readonly [side: Side, words: string, key: string])[] = [
  ['cycles', 'Cycles', 'c'],
  ['branches', 'Branches', 'b'],
  ['interventions', 'Interventions', 'i'],
];

/** The column beside the view: the cycles of a branch, or the branches of its history, or the interventions. */
export const SidePanel = ({
  head,
  looking,
  address,
  go,
}: {
  readonly head: Query<SnapshotPage>;
  readonly looking: Looking | null;
  readonly address: Address & { readonly history: string };
  readonly go: Go;
}): ComponentChildren => {
  const { side } = address;
  if (side === null) return null;
  const label = TABS.find(([name]) => name === side)?.[1];
  return (
    <section class={`panel side side-${side}`} aria-label={label}>
      <header class="panel-head">
        <div class="tabs" role="group" aria-label="Side panel">
          {TABS.map(([name, words, key]) => (
            <button
              key={name}
              class="tab"
              aria-pressed={side === name}
              title={`${words} (${key})`}
              onClick={() => go({ side: name })}
            >
              {words}
            </button>
          ))}
        </div>
        <button class="plain" title="Close the list (its key)" onClick={() => go({ side: null })}>
          Close
        </button>
      </header>
      {side === 'cycles' ? (
        <Cycles head={head} looking={looking} go={go} />
      ) : (
        <HistorySide address={address} head={head} looking={looking} go={go} />
      )}
    </section>
  );
};

const ID = /^(h[a-z2-7]{20})(?::\d+)?$/;

/** The panels about all branches of a history, whichever branch is shown. */
const HistorySide = ({
  address,
  head,
  looking,
  go,
}: {
  readonly address: Address & { readonly history: string };
  readonly head: Query<SnapshotPage>;
  readonly looking: Looking | null;
  readonly go: Go;
}): ComponentChildren => {
  // An id contains its history's id, so changing the branch waits for no request.
  const root = ID.exec(address.history)?.[1];
  const found = head.state === 'done' ? head.value : undefined;
  const history = found?.history ?? root;
  const branch = found?.branch ?? (root === undefined ? undefined : address.history);
  if (history === undefined || branch === undefined)
    return (
      <Shown query={head} what={address.side ?? 'branch'}>
        {() => null}
      </Shown>
    );
  return address.side === 'branches' ? (
    <BranchesSide history={history} asked={address.history} branch={branch} looking={looking} go={go} />
  ) : (
    <Interventions history={history} address={address} go={go} />
  );
};

/** The branches, and the position shown. */
const BranchesSide = (props: {
  readonly history: string;
  readonly asked: string;
  readonly branch: string;
  readonly looking: Looking | null;
  readonly go: Go;
}): ComponentChildren => {
  const { branch, looking } = props;
  const reference = looking === null || looking.cycle !== null ? undefined : looking.reference;
  // Only of a snapshot is the cycle known from its reference.
  const asked = useQuery(
    reference === undefined ? 'none' : `now/h/${branch}/${reference}/config`,
    (client) =>
      reference === undefined
        ? new Promise<never>(() => undefined)
        : client.config({ history: branch, at: reference }),
  );
  const position = asked.state === 'done' ? asked.value.position : null;
  return (
    <BranchesPanel {...props} cycle={looking?.cycle ?? (position === null ? null : positionX(position))} />
  );
};
