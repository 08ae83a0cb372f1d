import { firstWords } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { SafeText } from '../safe-text.tsx';
import { Shown } from '../states.tsx';
import { useQuery } from '../use-query.ts';
import { VirtualList } from '../virtual-list.tsx';
import { grouped, plural } from '../words.ts';
import type { ViewProps } from './page-view.ts';
import { cssOf, kindColour } from './pool-colours.ts';
import { printFilter, parseFilter } from './pool-filter.ts';
import { MOST_SNAPSHOTS, usePoolFigures, type ShownFigures, type ShownSnapshot } from './use-pool.ts';

const FIGURES: readonly (readonly [
  words: string,
  meaning: string,
  valueOf: (snapshot: ShownSnapshot) => number | null,
])[] = [
  ['diversity', 'mean cosine distance of all pairs of active messages', ({ diversity }) => diversity],
  ['similarity', 'mean cosine similarity of all pairs of added messages', ({ similarity }) => similarity],
  [
    'from the seeds',
    'mean cosine distance of the added messages from the centroid of the seed messages',
    ({ seed_distance: distance }) => distance,
  ],
  ['texts', 'different texts among the active messages', ({ texts }) => texts],
  ['added', 'messages since the snapshot before', ({ added }) => added],
  ['in no attractor', 'active messages in no attractor', ({ noise }) => noise],
];

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
                <Line key={words} words={words} meaning={meaning} values={metrics.snapshots.map(valueOf)} />
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

const WIDE = 300;
const HIGH = 70;

/** Numbers as people read them: few digits, and none that mean nothing. */
const figure = (value: number | null): string =>
  value === null ? '–' : Number.isInteger(value) ? grouped(value) : value.toFixed(3);

/** One figure over the snapshots; where it is not defined the line is broken. */
const Line = ({
  words,
  meaning,
  values,
}: {
  readonly words: string;
  readonly meaning: string;
  readonly values: readonly (number | null)[];
}): ComponentChildren => {
  const most = values.reduce<number>((high, value) => Math.max(high, value ?? 0), 0) || 1;
  const last = Math.max(1, values.length - 1);
  const pieces: string[][] = [[]];
  for (const [i, value] of values.entries()) {
    if (value === null) pieces.push([]);
    else
      pieces
        .at(-1)
        ?.push(
          `${((i / last) * WIDE).toFixed(1)},${(HIGH - 3 - (Math.max(0, value) / most) * (HIGH - 6)).toFixed(1)}`,
        );
  }
  return (
    <figure class="small-chart" title={meaning}>
      <figcaption class="quiet">
        {words}: <b>{figure(values.at(-1) ?? null)}</b>, at most {figure(most)}
      </figcaption>
      <svg viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true">
        {pieces.map((piece, i) =>
          piece.length === 1 ? (
            <circle key={i} class="dot" cx={piece[0]?.split(',')[0]} cy={piece[0]?.split(',')[1]} r="2" />
          ) : (
            <polyline key={i} class="line-a" points={piece.join(' ')} />
          ),
        )}
      </svg>
    </figure>
  );
};

const MOST_ATTRACTORS = 24;
const STRIP = 22;

/** Each attractor is a strip: how many messages it held at each snapshot. The same number is the same attractor. */
const Attractors = ({
  history,
  metrics: { snapshots, now },
  show,
}: {
  readonly history: string;
  readonly metrics: ShownFigures;
  readonly show: (identity: number) => void;
}): ComponentChildren => {
  const all = [...snapshots, now];
  const sizes = new Map<number, number[]>();
  const typical = new Map<number, string>();
  for (const [i, { attractors }] of all.entries())
    for (const { identity, size, representative } of attractors ?? []) {
      const strip = sizes.get(identity) ?? all.map(() => 0);
      strip[i] = size;
      sizes.set(identity, strip);
      typical.set(identity, representative);
    }
  const strips = [...sizes]
    .map(([identity, strip]) => ({ identity, strip, total: strip.reduce((sum, size) => sum + size, 0) }))
    .sort((a, b) => b.total - a.total || a.identity - b.identity);
  const most = strips.reduce((high, { strip }) => strip.reduce((h, size) => Math.max(h, size), high), 1);
  const last = Math.max(1, all.length - 1);
  const shapeOf = (strip: readonly number[]): string => {
    const points = strip.map(
      (size, i) => `${((i / last) * WIDE).toFixed(1)},${(STRIP - (size / most) * (STRIP - 2)).toFixed(1)}`,
    );
    return `0,${STRIP} ${points.join(' ')} ${WIDE},${STRIP}`;
  };
  return (
    <section class="panel pool-attractors" aria-label="Attractors over rounds">
      <header class="panel-head">
        <h2>Attractors</h2>
        <span class="quiet">
          groups of messages that say something similar; the same number is the same group
        </span>
      </header>
      {strips.length === 0 ? (
        <p class="note quiet">
          {all.some(({ attractors }) => attractors === null)
            ? 'Attractors are not searched where more than 1,000 messages are active.'
            : 'No three messages are near enough to each other to be a group.'}
        </p>
      ) : (
        <table class="attractor-sizes">
          <thead>
            <tr>
              <th scope="col">attractor</th>
              <th scope="col">now</th>
              <th scope="col">most</th>
              <th scope="col">from snapshot to snapshot</th>
              <th scope="col">most typical message</th>
            </tr>
          </thead>
          <tbody>
            {strips.slice(0, MOST_ATTRACTORS).map(({ identity, strip }) => (
              <tr key={identity}>
                <th scope="row">
                  <button class="link" onClick={() => show(identity)} title="List its messages">
                    <span class="swatch" style={{ background: cssOf(kindColour(identity)) }} />
                    {identity}
                  </button>
                </th>
                <td>{strip.at(-1)}</td>
                <td>{strip.reduce((high, size) => Math.max(high, size), 0)}</td>
                <td>
                  <svg viewBox={`0 0 ${WIDE} ${STRIP}`} preserveAspectRatio="none" aria-hidden="true">
                    <polygon points={shapeOf(strip)} style={{ fill: cssOf(kindColour(identity)) }} />
                  </svg>
                </td>
                <td class="attractor-text">
                  <Typical history={history} id={typical.get(identity) ?? ''} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {strips.length > MOST_ATTRACTORS && (
        <p class="note quiet">and {plural(strips.length - MOST_ATTRACTORS, 'smaller attractor')}</p>
      )}
    </section>
  );
};

/** The beginning of a message of the pool as it stands; of one that was removed, its id. */
const Typical = ({ history, id }: { readonly history: string; readonly id: string }): ComponentChildren => {
  const rows = useQuery(
    `now/h/${history}/pool-rows/`,
    (client) => client.poolRows({ history }),
    `pool-rows/${history}`,
  );
  const row = rows.state === 'done' ? rows.value.rows.find((each) => each.id === id) : undefined;
  return <SafeText text={firstWords(row?.excerpt ?? id, 120)} />;
};

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
