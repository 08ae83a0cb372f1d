import type { ComponentChildren } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { grouped } from '../parts/words.ts';
import type { ViewProps } from '../parts/page-view.ts';
import { Attractors, figure, FigureChart, FIGURES } from './pool-charts.tsx';
import { printFilter, parseFilter } from './pool-filter.ts';
import { MOST_SNAPSHOTS, usePoolFigures, type ShownFigures } from './use-pool.ts';

/** A pool in figures at every snapshot, as lines and as a table, and its attractors from snapshot to snapshot. */
export const PoolRounds = ({
  address: { history, filter },
  reference,
  go,
}: ViewProps & { readonly reference: string | undefined }): ComponentChildren => (
  <Shown query={usePoolFigures(history, reference)} what="figures">
    {(metrics) => (
      <div class="pool-rounds">
        {metrics.snapshots.length === 0 ? (
          <div class="note">
            <p>No round was made yet: figures are taken at each.</p>
            <pre>
              ./stemma run <SafeText text={history} /> --rounds 10
            </pre>
          </div>
        ) : (
          <>
            <div class="small-charts">
              {FIGURES.map(([words, meaning, valueOf]) => (
                <FigureChart
                  key={words}
                  words={words}
                  meaning={meaning}
                  lines={[
                    {
                      look: 'a',
                      points: metrics.snapshots.map(
                        (snapshot) => [snapshot.round, valueOf(snapshot)] as const,
                      ),
                    },
                  ]}
                />
              ))}
            </div>
            <Attractors
              history={history}
              metrics={metrics}
              show={(cluster) =>
                go({
                  part: null,
                  filter: printFilter({ ...parseFilter(filter), cluster, colour: 'cluster' }),
                })
              }
            />
            <FigureTable metrics={metrics} go={go} />
          </>
        )}
      </div>
    )}
  </Shown>
);

const FigureTable = ({
  metrics: { snapshots, now },
  go,
}: {
  readonly metrics: ShownFigures;
  readonly go: ViewProps['go'];
}): ComponentChildren => {
  const all = [...snapshots, now];
  return (
    <section class="panel pool-figures" aria-label="Figures as a table">
      {snapshots.length === MOST_SNAPSHOTS && (
        <p class="note quiet">
          The newest {grouped(MOST_SNAPSHOTS)} snapshots; all: <code>./stemma pool metrics</code>
        </p>
      )}
      <div class="table-head figure-row quiet" aria-hidden="true">
        <span>round</span>
        <span>messages</span>
        <span>added</span>
        <span>texts</span>
        <span>diversity</span>
        <span>similarity</span>
        <span>from seeds</span>
        <span class="wide">attractors</span>
      </div>
      <VirtualList
        label="Snapshots, newest first"
        count={all.length}
        rowHeight={26}
        selected={-1}
        row={(i) => {
          const each = all[all.length - 1 - i];
          if (each === undefined) return null;
          return (
            <button
              class="table-row figure-row"
              role="option"
              aria-selected={false}
              title="Show the pool as it was then"
              onClick={() => go({ part: null, at: each === now ? null : each.position })}
            >
              <b>{each === now ? 'now' : each.round}</b>
              <span>{grouped(each.messages)}</span>
              <span>{each.added}</span>
              <span>{each.texts}</span>
              <span>{figure(each.diversity)}</span>
              <span>{figure(each.similarity)}</span>
              <span>{figure(each.seed_distance)}</span>
              <span class="wide">
                {each.attractors?.map(({ identity, size }) => `${identity} (${size})`).join(', ') ??
                  'not searched'}
              </span>
            </button>
          );
        }}
      />
    </section>
  );
};
