import { excerptOf, firstWords } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Content } from '../parts/content.tsx';
import { SafeText, visible } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { useQuery } from '../asking/queries.ts';
import { optionProps, VirtualList } from '../parts/virtual-list.tsx';
import { grouped, plural } from '../parts/words.ts';
import type { ViewProps } from '../parts/page-view.ts';
import { PointMap } from './point-map.tsx';
import { colouringOf, cssOf, kindColour } from './pool-colours.ts';
import {
  byCodeUnits,
  COLOURS,
  filterRows,
  ORDERS,
  parseFilter,
  printFilter,
  type ColouredBy,
  type Known,
  type OrderedBy,
  type PoolFilter,
  type PoolRow,
} from './pool-filter.ts';
import type { ColouredPoint } from './use-map-view.ts';
import { useKnown, usePoolMap, type PlacedMessages, type Pool, type PoolMap } from './use-pool.ts';

const NEIGHBOURS = 12;

export const PoolMessages = ({
  pool,
  reference,
  address,
  go,
}: ViewProps & { readonly pool: Pool; readonly reference: string | undefined }): ComponentChildren => {
  const { history, node } = address;
  const filter = useMemo(() => parseFilter(address.filter), [address.filter]);
  const set: SetFilter = (change) => go({ filter: printFilter({ ...filter, ...change }) }, 'replace');
  const map = usePoolMap(pool, reference, filter.seed);
  const known = useKnown(history, reference, filter.near, map.map);
  const shown = useMemo(() => filterRows(pool.rows, filter, known), [pool.rows, filter, known]);
  const choose = (id: string | null): void => go({ node: id }, 'replace');
  const chosen = pool.rows.find(({ id }) => id === node);
  const common = { pool, known, filter, set, shown, node, choose };
  return (
    <div class={`pool-messages${chosen === undefined ? '' : ' with-message'}`}>
      <ListPanel {...common} showAll={() => go({ filter: null }, 'replace')} />
      <MapPanel {...common} map={map} />
      {chosen !== undefined && (
        <Message
          key={chosen.id}
          row={chosen}
          pool={pool}
          known={known}
          history={history}
          reference={reference}
          filter={filter}
          set={set}
          go={go}
        />
      )}
    </div>
  );
};

type SetFilter = (change: Partial<PoolFilter>) => void;

/** What the list and the map show: the messages that pass the filter, and the one chosen. */
type ShownMessages = {
  readonly pool: Pool;
  readonly known: Known;
  readonly filter: PoolFilter;
  readonly set: SetFilter;
  readonly shown: readonly PoolRow[];
  readonly node: string | null;
  readonly choose: (id: string | null) => void;
};

const ListPanel = ({
  pool,
  known,
  filter,
  set,
  shown,
  node,
  choose,
  showAll,
}: ShownMessages & { readonly showAll: () => void }): ComponentChildren => (
  <section class="panel pool-list" aria-label="Messages of the pool">
    <header class="panel-head">
      <h2>
        Messages <span class="at">{pool.position}</span>
      </h2>
      <span class="quiet" role="status">
        {shown.length === pool.rows.length
          ? plural(shown.length, 'message')
          : `${grouped(shown.length)} of ${plural(pool.rows.length, 'message')}`}
        , round {grouped(pool.round)}
      </span>
    </header>
    <Filters pool={pool} filter={filter} set={set} clusters={known.clusters} />
    {shown.length === 0 ? (
      <div class="note">
        <p>No message passes these filters.</p>
        <button class="plain" onClick={showAll}>
          Show all messages
        </button>
      </div>
    ) : (
      <MessageList
        rows={shown}
        all={pool.rows}
        known={known}
        selected={shown.findIndex(({ id }) => id === node)}
        choose={choose}
        isNearShown={filter.near !== null}
      />
    )}
  </section>
);

const MapPanel = ({
  pool,
  known: { clusters, points },
  filter,
  set,
  shown,
  node,
  choose,
  map: { map, at, isCurrent, drawAgain },
}: ShownMessages & { readonly map: PoolMap }): ComponentChildren => {
  const colouring = useMemo(
    () => colouringOf(filter.colour, pool.rows, clusters),
    [filter.colour, pool.rows, clusters],
  );
  const mapPoints = useMemo((): readonly ColouredPoint[] => {
    const ids = new Set(shown.map(({ id }) => id));
    return pool.rows.flatMap((row) => {
      const point = points.get(row.id);
      if (point === undefined) return [];
      return [
        { id: row.id, x: point[0], y: point[1], colour: colouring.colourOf(row), isShown: ids.has(row.id) },
      ];
    });
  }, [pool.rows, points, colouring, shown]);
  return (
    <section class="panel pool-map" aria-label="Map of the messages">
      <header class="panel-head">
        <h2>Map</h2>
        {!isCurrent && (
          <button class="plain" onClick={drawAgain} title={`It shows ${at}`}>
            {plural(pool.rows.filter(({ id }) => !points.has(id)).length, 'new message')}: draw again
          </button>
        )}
        <MapControls filter={filter} set={set} />
      </header>
      <Shown query={map} what="map: the coordinates are computed">
        {(value) => (
          <MapWithNote
            map={value}
            points={mapPoints}
            legend={colouring.legend}
            filter={filter}
            set={set}
            chosen={node}
            choose={choose}
          />
        )}
      </Shown>
    </section>
  );
};

const WORDS: Readonly<Record<ColouredBy | OrderedBy, string>> = {
  round: 'round',
  cluster: 'attractor',
  source: 'source',
  sampled: 'how often shown',
  oldest: 'oldest first',
  newest: 'newest first',
  similar: 'most similar first',
};

const wholeOf = (text: string): number | null => (/^\d{1,9}$/.test(text) ? Number(text) : null);

const Filters = ({
  pool,
  filter,
  set,
  clusters,
}: {
  readonly pool: Pool;
  readonly filter: PoolFilter;
  readonly set: SetFilter;
  readonly clusters: ReadonlyMap<string, number>;
}): ComponentChildren => {
  const sources = useMemo(
    () => [...new Set(pool.rows.map(({ source }) => source))].sort(byCodeUnits),
    [pool.rows],
  );
  const numbers = useMemo(() => [...new Set(clusters.values())].sort((a, b) => a - b), [clusters]);
  return (
    <form class="pool-filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        words{' '}
        <input
          type="search"
          value={filter.words ?? ''}
          onInput={({ currentTarget }) =>
            set({ words: currentTarget.value === '' ? null : currentTarget.value })
          }
        />
      </label>
      <label>
        rounds{' '}
        <input
          inputMode="numeric"
          size={4}
          aria-label="first round"
          placeholder="0"
          value={filter.from ?? ''}
          onInput={({ currentTarget }) => set({ from: wholeOf(currentTarget.value) })}
        />
      </label>
      <label>
        to{' '}
        <input
          inputMode="numeric"
          size={4}
          aria-label="last round"
          placeholder={String(pool.round)}
          value={filter.to ?? ''}
          onInput={({ currentTarget }) => set({ to: wholeOf(currentTarget.value) })}
        />
      </label>
      <label>
        attractor{' '}
        <select
          value={filter.cluster ?? ''}
          onChange={({ currentTarget }) => set({ cluster: wholeOf(currentTarget.value) })}
        >
          <option value="">any</option>
          {numbers.map((n) => (
            <option key={n} value={n}>
              {n}
            </option>
          ))}
        </select>
      </label>
      <label>
        source{' '}
        <select
          value={filter.source ?? ''}
          onChange={({ currentTarget }) =>
            set({ source: currentTarget.value === '' ? null : currentTarget.value })
          }
        >
          <option value="">any</option>
          {sources.map((source) => (
            <option key={source} value={source}>
              {visible(source)}
            </option>
          ))}
        </select>
      </label>
      <label>
        order{' '}
        <select
          value={filter.order}
          onChange={({ currentTarget }) =>
            set({ order: ORDERS.find((one) => one === currentTarget.value) ?? 'oldest' })
          }
        >
          {ORDERS.filter((one) => one !== 'similar' || filter.near !== null).map((one) => (
            <option key={one} value={one}>
              {WORDS[one]}
            </option>
          ))}
        </select>
      </label>
      {filter.near !== null && (
        <label>
          similarity of <SafeText text={filter.near} /> at least {filter.least.toFixed(2)}{' '}
          <input
            type="range"
            min="-0.2"
            max="1"
            step="0.05"
            value={filter.least}
            onInput={({ currentTarget }) => set({ least: Number(currentTarget.value) })}
          />
          <button type="button" class="plain" onClick={() => set({ near: null, order: 'oldest' })}>
            any similarity
          </button>
        </label>
      )}
      {filter.lasso !== null && (
        <button type="button" class="plain" onClick={() => set({ lasso: null })}>
          leave the circle
        </button>
      )}
    </form>
  );
};

const MapControls = ({
  filter,
  set,
}: {
  readonly filter: PoolFilter;
  readonly set: SetFilter;
}): ComponentChildren => (
  <div class="tabs">
    <label class="quiet">
      colours{' '}
      <select
        value={filter.colour}
        onChange={({ currentTarget }) =>
          set({ colour: COLOURS.find((one) => one === currentTarget.value) ?? 'round' })
        }
      >
        {COLOURS.map((one) => (
          <option key={one} value={one}>
            {WORDS[one]}
          </option>
        ))}
      </select>
    </label>
    <label class="quiet">
      seed{' '}
      <input
        inputMode="numeric"
        size={3}
        value={filter.seed}
        onChange={({ currentTarget }) => set({ seed: wholeOf(currentTarget.value) ?? 0, lasso: null })}
      />
    </label>
  </div>
);

const MapWithNote = ({
  map,
  points,
  legend,
  filter,
  set,
  chosen,
  choose,
}: {
  readonly map: PlacedMessages;
  readonly points: readonly ColouredPoint[];
  readonly legend: readonly (readonly [string, readonly [number, number, number]])[];
  readonly filter: PoolFilter;
  readonly set: SetFilter;
  readonly chosen: string | null;
  readonly choose: (id: string | null) => void;
}): ComponentChildren => {
  const [isLassoing, setLassoing] = useState(false);
  return (
    <>
      <PointMap
        label={`Map of ${plural(points.length, 'message')}: arrows move it, + and − enlarge it, 0 shows all; the list has the same messages`}
        points={points}
        chosen={chosen}
        lasso={filter.lasso}
        isLassoing={isLassoing}
        choose={choose}
        circle={(lasso) => {
          setLassoing(false);
          set({ lasso });
        }}
      />
      <ul class="chart-legend" aria-label="What the colours mean">
        {legend.map(([words, colour]) => (
          <li key={words}>
            <span class="swatch" style={{ background: cssOf(colour) }} />
            <SafeText text={firstWords(words, 40)} />
          </li>
        ))}
        <li>
          <button
            class="toggle"
            aria-pressed={isLassoing}
            onClick={() => setLassoing(!isLassoing)}
            title="Draw around messages (or drag with Shift)"
          >
            Circle
          </button>
        </li>
      </ul>
      <p class="quiet pool-note">
        {map.method === 'umap'
          ? `Messages that are near each other say something similar (UMAP, seed ${map.seed}). What is far apart need not differ more, and the size of a cloud means nothing: another seed draws another map. `
          : `${grouped(map.texts)} texts are too many for UMAP: these are the two directions in which their vectors spread most, so that messages may lie near each other that differ in others. `}
        Similarity in the list is measured, not read off the map.
      </p>
    </>
  );
};

const MessageList = ({
  rows,
  all,
  known,
  selected,
  choose,
  isNearShown,
}: {
  readonly rows: readonly PoolRow[];
  readonly all: readonly PoolRow[];
  readonly known: Known;
  readonly selected: number;
  readonly choose: (id: string | null) => void;
  readonly isNearShown: boolean;
}): ComponentChildren => {
  const most = useMemo(() => all.reduce((high, { sampled }) => Math.max(high, sampled), 1), [all]);
  const onKey = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = rows[Math.max(0, Math.min(rows.length - 1, selected + step))];
    if (next !== undefined) choose(next.id);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="pool-rows" onKeyDown={onKey}>
      <div class="table-head pool-row quiet" aria-hidden="true">
        <span>round</span>
        <span>from</span>
        <span>shown</span>
        <span>{isNearShown ? 'similar' : 'attractor'}</span>
        <span>text</span>
      </div>
      <VirtualList
        label="Messages"
        count={rows.length}
        rowHeight={28}
        selected={selected}
        row={(i) => {
          const row = rows[i];
          if (row === undefined) return null;
          const cluster = known.clusters.get(row.id);
          const similarity = known.similarity.get(row.id);
          return (
            <button
              class={`table-row pool-row${row.active ? '' : ' is-past'}`}
              {...optionProps(i, rows.length, i === selected)}
              onClick={() => choose(i === selected ? null : row.id)}
            >
              <span>{row.round ?? '–'}</span>
              <span class="pool-from">
                {row.mind_id >= 0 ? `mind ${row.mind_id}` : <SafeText text={row.source} />}
              </span>
              <span
                class="heat"
                style={{ '--heat': `${Math.round((row.sampled / most) * 100)}%` }}
                aria-label={`shown ${row.sampled} times`}
              >
                {row.sampled}
              </span>
              {isNearShown ? (
                <span>{similarity === undefined ? '' : similarity.toFixed(2)}</span>
              ) : (
                <span class="pool-cluster">
                  {cluster !== undefined && (
                    <>
                      <span class="swatch" style={{ background: cssOf(kindColour(cluster)) }} />
                      {cluster}
                    </>
                  )}
                </span>
              )}
              <span class="pool-text">
                <SafeText text={firstWords(row.excerpt, 200)} />
              </span>
            </button>
          );
        }}
      />
    </div>
  );
};

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
};

/** One message whole, and those nearest to it. */
const Message = ({
  row,
  pool,
  known,
  history,
  reference,
  filter,
  set,
  go,
}: {
  readonly row: PoolRow;
  readonly pool: Pool;
  readonly known: Known;
  readonly history: string;
  readonly reference: string | undefined;
  readonly filter: PoolFilter;
  readonly set: SetFilter;
  readonly go: ViewProps['go'];
}): ComponentChildren => {
  const at = reference === undefined ? {} : { at: reference };
  const detail = useQuery(`now/h/${history}/pool-node/${reference ?? ''}/${row.id}`, (client) =>
    client.node({ history, node: row.id, ...at }),
  );
  const near = useQuery(`now/h/${history}/pool-neighbours/${reference ?? ''}/${row.id}`, (client) =>
    client.poolNear({ history, message: row.id, limit: NEIGHBOURS, ...at }),
  );
  const byId = useMemo(() => new Map(pool.rows.map((each) => [each.id, each])), [pool.rows]);
  const cluster = known.clusters.get(row.id);
  return (
    <section class="panel pool-message" aria-label="Message">
      <header class="panel-head">
        <h2>
          <SafeText text={row.id} />
        </h2>
        <div class="tabs">
          <button
            class="plain"
            aria-pressed={filter.near === row.id}
            onClick={() => set(filter.near === row.id ? { near: null } : { near: row.id, order: 'similar' })}
          >
            List what is similar
          </button>
          <button class="plain" onClick={() => go({ show: null, at: reference ?? 'open', node: row.id })}>
            Open context
          </button>
          <button class="plain" onClick={() => go({ node: null }, 'replace')} aria-label="Close the message">
            ×
          </button>
        </div>
      </header>
      <div class="scroll" tabIndex={0} role="region" aria-label="Message and its neighbours">
        <p class="pool-facts quiet">
          {row.round === null ? 'of an unknown round' : `round ${row.round}`} ·{' '}
          {row.mind_id >= 0 ? `mind ${row.mind_id}` : <SafeText text={row.source} />} · shown{' '}
          {plural(row.sampled, 'time')} · {row.active ? 'may still be shown' : 'not shown any more'}
          {cluster !== undefined && ` · attractor ${cluster}`}
          {row.intervention !== null && (
            <>
              {' · '}
              <button
                class="link"
                onClick={() => go({ show: null, side: 'interventions', intervention: row.intervention })}
              >
                added by an intervention
              </button>
            </>
          )}
        </p>
        <Shown query={detail} what="message">
          {({ payload }) => {
            const content = excerptOf(payload['content']);
            return (
              content !== null && (
                <div class="pool-whole">
                  <Content content={content} />
                </div>
              )
            );
          }}
        </Shown>
        <h3 class="pool-near-title">Nearest messages</h3>
        <Shown query={near} what="nearest messages">
          {(found) =>
            found.near.length === 0 ? (
              <p class="note quiet">No other message has a vector.</p>
            ) : (
              <ol class="pool-near">
                {found.near.map(({ id, similarity }) => {
                  const other = byId.get(id);
                  return (
                    <li key={id}>
                      <span class="pool-similarity">{similarity.toFixed(3)}</span>
                      <span class="quiet">{other?.round == null ? '' : `round ${other.round}`}</span>
                      <button class="link-row" onClick={() => go({ node: id }, 'replace')}>
                        <SafeText text={firstWords(other?.excerpt ?? id, 200)} />
                      </button>
                    </li>
                  );
                })}
              </ol>
            )
          }
        </Shown>
      </div>
    </section>
  );
};
