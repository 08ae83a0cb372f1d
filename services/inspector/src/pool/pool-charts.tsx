import { firstWords } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';
import { useQuery } from '../asking/queries.ts';
import { grouped, plural } from '../parts/words.ts';
import { cssOf, kindColour } from './pool-colours.ts';
import type { ShownFigures, ShownSnapshot } from './use-pool.ts';

/** What is measured of a pool at every snapshot. */
export const FIGURES: readonly (readonly [
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

const WIDE = 300;
const HIGH = 70;

/** Numbers as people read them: few digits, and none that mean nothing. */
export const figure = (value: number | null): string =>
  value === null ? '–' : Number.isInteger(value) ? grouped(value) : value.toFixed(3);

/** A figure over rounds; where it is not defined the line is broken. */
export type FigureLine = {
  readonly look: 'a' | 'b';
  readonly points: readonly (readonly [round: number, value: number | null])[];
};

/** One figure, of one pool or of two over each other; a dashed line where they part. */
export const FigureChart = ({
  words,
  meaning,
  lines,
  parted = null,
}: {
  readonly words: string;
  readonly meaning: string;
  readonly lines: readonly FigureLine[];
  readonly parted?: number | null;
}): ComponentChildren => {
  const all = lines.flatMap(({ points }) => points);
  const most = all.reduce<number>((high, [, value]) => Math.max(high, value ?? 0), 0) || 1;
  const rounds = all.map(([round]) => round);
  const low = rounds.reduce((least, round) => Math.min(least, round), Infinity);
  const high = rounds.reduce((last, round) => Math.max(last, round), 1);
  const across = (round: number): string => (((round - low) / Math.max(1, high - low)) * WIDE).toFixed(1);
  const up = (value: number): string => (HIGH - 3 - (Math.max(0, value) / most) * (HIGH - 6)).toFixed(1);
  return (
    <figure class="small-chart" title={meaning}>
      <figcaption class="quiet">
        {words}:{' '}
        {lines.map(({ look, points }, i) => (
          <>
            {i > 0 && ' · '}
            {lines.length > 1 && `${look.toUpperCase()} `}
            <b>{figure(points.at(-1)?.[1] ?? null)}</b>
          </>
        ))}
        , at most {figure(most)}
      </figcaption>
      <svg viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true">
        {parted !== null && <line class="parted" x1={across(parted)} x2={across(parted)} y1="0" y2={HIGH} />}
        {lines.map(({ look, points }) =>
          piecesOf(points).map((piece) => {
            const [[round, value]] = piece;
            return piece.length === 1 ? (
              <circle key={round} class={`dot dot-${look}`} cx={across(round)} cy={up(value)} r="2" />
            ) : (
              <polyline
                key={round}
                class={`line-${look}`}
                points={piece.map(([x, y]) => `${across(x)},${up(y)}`).join(' ')}
              />
            );
          }),
        )}
      </svg>
    </figure>
  );
};

type Piece = [readonly [number, number], ...(readonly [number, number])[]];

/** The parts of a line without gaps. */
const piecesOf = (points: FigureLine['points']): readonly Piece[] => {
  const pieces: Piece[] = [];
  let isOpen = false;
  for (const [round, value] of points) {
    if (value === null) isOpen = false;
    else if (isOpen) pieces.at(-1)?.push([round, value]);
    else {
      pieces.push([[round, value]]);
      isOpen = true;
    }
  }
  return pieces;
};

const MOST_ATTRACTORS = 24;
const STRIP = 22;

/** Each attractor is a strip: how many messages it held at each snapshot. The same number is the same attractor. */
export const Attractors = ({
  title = 'Attractors',
  history,
  metrics: { snapshots, now },
  show,
}: {
  readonly title?: string;
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
    <section class="panel pool-attractors" aria-label={`${title} over rounds`}>
      <header class="panel-head">
        <h2>{title}</h2>
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
