import type { SnapshotPage } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Go } from '../page/address.ts';
import { CallWords } from '../calls/call-bar.tsx';
import type { Query } from '../asking/queries.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { useSnapshot, type Looking } from './use-cycles.ts';
import { optionProps, VirtualList } from '../parts/virtual-list.tsx';
import { grouped, isoTime, plural, shortTime } from '../parts/words.ts';

const ROW = 46;

/** The cycles of a branch as a timeline: the working state, then the newest first. */
export const Cycles = ({
  head,
  looking,
  go,
}: {
  readonly head: Query<SnapshotPage>;
  readonly looking: Looking | null;
  readonly go: Go;
}): ComponentChildren => (
  <Shown query={head} what="cycles">
    {(page) => {
      const count = cycleCount(page);
      const selected =
        looking === null ? -1 : looking.reference === undefined ? 0 : indexOf(page, looking.cycle);
      return (
        <>
          <p class="side-facts quiet">
            {plural(count, 'cycle')}
            <button
              class="toggle"
              aria-pressed={looking?.following ?? false}
              title="Always show the newest cycle (f)"
              onClick={() => go({ at: looking?.following === true ? (looking.reference ?? 'open') : null })}
            >
              Follow newest
            </button>
          </p>
          <VirtualList
            label="Cycles, newest first"
            count={count + 1}
            rowHeight={ROW}
            selected={selected}
            row={(i) =>
              i === 0 ? (
                <WorkingRow page={page} chosen={selected === 0} go={go} />
              ) : (
                <CycleRow
                  page={page}
                  cycle={cycleAt(page, i)}
                  index={i}
                  count={count + 1}
                  chosen={selected === i}
                  go={go}
                />
              )
            }
          />
        </>
      );
    }}
  </Shown>
);

/** Cycles of an ancestor path have no gaps. */
const cycleCount = ({ newest, oldest }: SnapshotPage): number =>
  newest === null || oldest === null ? 0 : newest - oldest + 1;
const cycleAt = ({ newest }: SnapshotPage, index: number): number => (newest ?? 0) + 1 - index;
const indexOf = (page: SnapshotPage, cycle: number | null): number => {
  if (cycle === null || page.newest === null || page.oldest === null) return -1;
  return cycle < page.oldest || cycle > page.newest ? -1 : page.newest + 1 - cycle;
};

const WorkingRow = ({
  page,
  chosen,
  go,
}: {
  readonly page: SnapshotPage;
  readonly chosen: boolean;
  readonly go: Go;
}): ComponentChildren => (
  <button
    class="cycle working"
    role="option"
    aria-selected={chosen}
    tabIndex={-1}
    onClick={() => go({ at: 'open' })}
  >
    <span class="cycle-number">open</span>
    <span class="cycle-main">
      <span>working state</span>
      <span class="quiet">
        {page.working.seq === page.snapshots[0]?.seq
          ? 'no changes since the newest cycle'
          : `at ${page.working.label}`}
      </span>
    </span>
  </button>
);

const CycleRow = ({
  page,
  cycle,
  index,
  count,
  chosen,
  go,
}: {
  readonly page: SnapshotPage;
  readonly cycle: number;
  readonly index: number;
  readonly count: number;
  readonly chosen: boolean;
  readonly go: Go;
}): ComponentChildren => {
  const snapshot = useSnapshot(page, cycle);
  return (
    <button
      class="cycle"
      {...optionProps(index, count, chosen)}
      onClick={() => go({ at: `@c${cycle}` })}
      title={
        snapshot === undefined
          ? undefined
          : `${grouped(snapshot.nodes)} nodes\ntree ${snapshot.treeHash}\nthread ${snapshot.threadHash}\n${isoTime(snapshot.at)}`
      }
    >
      <span class="cycle-number" style={{ minWidth: `${String(page.newest ?? cycle).length}ch` }}>
        {cycle}
      </span>
      {snapshot === undefined ? (
        <span class="cycle-main quiet">…</span>
      ) : (
        <>
          <span class="cycle-main">
            <time dateTime={isoTime(snapshot.at)}>{shortTime(snapshot.at)}</time>
            <span class="quiet">
              {snapshot.names.map((name) => (
                <span class="badge name" key={name}>
                  <SafeText text={name} />
                </span>
              ))}
              {snapshot.call === null ? (
                <>
                  {grouped(snapshot.nodes)} nodes <code>{snapshot.treeHash.slice(0, 7)}</code>
                </>
              ) : (
                <CallWords call={snapshot.call} attempts={snapshot.calls ?? 1} />
              )}
            </span>
          </span>
          <span class="cycle-change">
            {snapshot.added > 0 && <span class="came">+{grouped(snapshot.added)}</span>}
            {snapshot.removed > 0 && <span class="gone">−{grouped(snapshot.removed)}</span>}
          </span>
        </>
      )}
    </button>
  );
};
