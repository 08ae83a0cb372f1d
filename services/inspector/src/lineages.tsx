import type { LineageNode } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Go } from './address.ts';
import { drawLineages, pathTo, type DrawnLineage, type Drawing } from './lineage-drawing.ts';
import { LineageRow } from './lineage-row.tsx';
import { SafeText } from './safe-text.tsx';
import { Shown } from './states.tsx';
import type { Looking } from './use-cycles.ts';
import { useLineages } from './use-lineages.ts';
import { VirtualList } from './virtual-list.tsx';
import { grouped, plural } from './words.ts';

const ROW = 42;

/** The lineages of a history as a stemma: what is chosen in it, and the way there, marked. */
export const Lineages = ({
  history,
  asked,
  lineage,
  looking,
  cycle,
  go,
}: {
  readonly history: string;
  /** What the page's address calls it. */
  readonly asked: string;
  /** The one that is looked at. */
  readonly lineage: string;
  readonly looking: Looking | null;
  /** Where in it, in cycles; null: not known yet. */
  readonly cycle: number | null;
  readonly go: Go;
}): ComponentChildren => (
  <Shown query={useLineages(history)} what="lineages">
    {({ lineages }) => (
      <Stemma
        history={history}
        asked={asked}
        lineages={lineages}
        lineage={lineage}
        looking={looking}
        cycle={cycle}
        go={go}
      />
    )}
  </Shown>
);

const Stemma = ({
  history,
  asked,
  lineages,
  lineage,
  looking,
  cycle,
  go,
}: {
  readonly history: string;
  readonly asked: string;
  readonly lineages: readonly LineageNode[];
  readonly lineage: string;
  readonly looking: Looking | null;
  readonly cycle: number | null;
  readonly go: Go;
}): ComponentChildren => {
  const drawing = useMemo(() => drawLineages(lineages), [lineages]);
  const chosen = drawing.rows.findIndex(
    ({ node }) => node.lineage === lineage || `${history}:${node.strand}` === lineage,
  );
  const x = placeOn(drawing.rows[chosen], looking, cycle);
  const path = x === null ? new Map<number, number>() : pathTo(drawing, chosen, x);
  const left = lineages.filter((one) => one.left_by !== null).length;
  return (
    <>
      <p class="side-facts quiet">
        {plural(lineages.length, 'lineage')}
        {left > 0 && `, ${grouped(left)} left by a rollback`}
        {`, to cycle ${grouped(Math.floor(drawing.last))}`}
      </p>
      <VirtualList
        label="Lineages"
        kind="list"
        count={drawing.rows.length}
        rowHeight={ROW}
        selected={chosen}
        row={(i) => (
          <LineageRow
            drawing={drawing}
            index={i}
            chosen={i === chosen}
            here={herePlace(drawing, path, chosen, x, i)}
            path={path}
            go={go}
          />
        )}
      />
      {lineages.length === 1 && <HowToFork history={asked} at={looking?.reference} />}
    </>
  );
};

/** Where one is on the chosen lineage, in cycles; its end where the working state or the newest is looked at. */
const placeOn = (
  row: DrawnLineage | undefined,
  looking: Looking | null,
  cycle: number | null,
): number | null => {
  if (row === undefined || looking === null) return null;
  return looking.reference === undefined || looking.following ? row.to : cycle;
};

/** The place that is looked at, on the row where it lies: that of the chosen lineage, or of an ancestor. */
const herePlace = (
  { rows }: Drawing,
  path: ReadonlyMap<number, number>,
  chosen: number,
  x: number | null,
  row: number,
): number | null => {
  if (x === null) return null;
  const own = rows[chosen]?.to === x ? chosen : Math.max(...path.keys());
  return row === own ? x : null;
};

const HowToFork = ({
  history,
  at,
}: {
  readonly history: string;
  readonly at: string | undefined;
}): ComponentChildren => (
  <div class="note hint">
    <p>
      This history has one lineage. A <b>fork</b> goes on from any of its positions in another way, a{' '}
      <b>rollback</b> goes back to one and on from there. Nothing is overwritten: what was there stays here.
    </p>
    <pre>
      ./stemma fork <SafeText text={history} /> {at ?? '@t0'} --name what-if --actor me{'\n'}
      ./stemma rollback <SafeText text={history} /> @t-1 --actor me
    </pre>
  </div>
);
