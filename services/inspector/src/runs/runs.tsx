import type { ComponentChildren } from 'preact';
import type { Address, Go } from '../page/address.ts';
import { Empty, Failure } from '../asking/states.tsx';
import { SafeText, visible } from '../parts/safe-text.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { grouped, plural } from '../parts/words.ts';
import '../style/runs.css';
import { Facets } from './facets.tsx';
import { rowsOf, toggled } from './rows-of.ts';
import { GroupRow, RunRow } from './run-row.tsx';
import { GROUPS, useRuns, type Runs } from './use-runs.ts';

const COLUMNS: readonly (readonly [column: string, order: string | null, words: string, title?: string])[] = [
  ['name', 'name', 'Run'],
  ['shape', null, 'Shape', 'A cell a call: answer, tools, failure'],
  ['calls', 'calls', 'Calls'],
  ['tools', 'tools', 'Tools', 'Calls of tools'],
  ['failed', 'failed', 'Failed', 'Calls of tools that failed'],
  ['tokens', 'tokens', 'Tokens', 'Tokens that all calls were shown'],
  ['cost', 'cost', 'Cost'],
  ['ended', null, 'Ended with'],
  [
    'parts',
    null,
    'Parts from the first',
    'The first call that decides otherwise than the first run of the group',
  ],
  ['branches', 'branches', 'Br.', 'Branches'],
  ['acts', 'interventions', '◆', 'Interventions'],
  ['last', 'updated', 'Last'],
];

const ROW = 27;

/** Every run in a row: found, filtered, ordered, and chosen to be compared. */
export const RunsPage = ({
  address,
  go,
}: {
  readonly address: Address;
  readonly go: Go;
}): ComponentChildren => {
  const runs = useRuns(address);
  const ticked = address.ticked === null ? [] : address.ticked.split(',');
  const setTicked = (ids: readonly string[]): void =>
    go({ ticked: ids.length === 0 ? null : ids.join(',') }, 'replace');
  const ask = (q: string): void => go({ q: q.trim() === '' ? null : q });
  return (
    <>
      <Facets question={address} toggle={(filter) => ask(toggled(address.q ?? '', filter))} />
      <main class="panel runs" aria-label="Runs">
        <Bar address={address} runs={runs} ask={ask} go={go} />
        <Heads sort={address.sort ?? '-updated'} go={go} />
        <Table
          runs={runs}
          asks={address.q !== null || address.of !== null}
          ticked={ticked}
          tick={(id) => setTicked(ticked.includes(id) ? ticked.filter((one) => one !== id) : [...ticked, id])}
          go={go}
        />
        {ticked.length > 0 && <Ticked ticked={ticked} runs={runs} clear={() => setTicked([])} go={go} />}
      </main>
    </>
  );
};

const Bar = ({
  address,
  runs,
  ask,
  go,
}: {
  readonly address: Address;
  readonly runs: Runs;
  readonly ask: (q: string) => void;
  readonly go: Go;
}): ComponentChildren => (
  <form
    class="runs-bar"
    role="search"
    onSubmit={(event) => {
      event.preventDefault();
      const given = new FormData(event.currentTarget).get('q');
      ask(typeof given === 'string' ? given : '');
    }}
  >
    <input
      key={address.q}
      name="q"
      type="search"
      aria-label="Filter runs"
      placeholder='tool:book_reservation failed:true calls:>10 since:7d "New York"'
      value={address.q ?? ''}
      spellcheck={false}
    />
    <button class="plain">Find</button>
    <label>
      <span class="quiet">group</span>{' '}
      <select
        aria-label="Group by"
        value={address.group ?? 'task'}
        onChange={({ currentTarget }) =>
          go({ group: currentTarget.value === 'task' ? null : currentTarget.value })
        }
      >
        {[...new Set([...GROUPS, ...(address.group === null ? [] : [address.group])])].map((one) => (
          <option key={one} value={one}>
            {one === 'none' ? 'none' : `by ${visible(one)}`}
          </option>
        ))}
      </select>
    </label>
    {address.of !== null && (
      <button class="plain" type="button" onClick={() => go({ of: null })}>
        All runs
      </button>
    )}
    <span class="quiet" role="status">
      {runs.first.state === 'done'
        ? `${grouped(runs.first.value.total)} of ${grouped(runs.first.value.all)}`
        : ''}
    </span>
  </form>
);

const Heads = ({ sort, go }: { readonly sort: string; readonly go: Go }): ComponentChildren => (
  <div class="run-row run-heads">
    <span />
    {COLUMNS.map(([column, order, words, title]) =>
      order === null ? (
        <span key={words} class={`col-${column}`} title={title}>
          {words}
        </span>
      ) : (
        <button
          key={words}
          class={`col-${column}`}
          title={title ?? `Order by ${words}`}
          aria-label={title === undefined ? words : `${words}: ${title}`}
          aria-pressed={sort.replace('-', '') === order}
          onClick={() => go({ sort: nextSort(sort, order) })}
        >
          {words}
          {sort === order ? ' ↑' : sort === `-${order}` ? ' ↓' : ''}
        </button>
      ),
    )}
  </div>
);

/** Names begin with the first, numbers with the largest; a second click turns them. */
const nextSort = (sort: string, order: string): string => {
  const usual = order === 'name' ? order : `-${order}`;
  return sort === usual ? (usual.startsWith('-') ? order : `-${order}`) : usual;
};

const Table = ({
  runs,
  asks,
  ticked,
  tick,
  go,
}: {
  readonly runs: Runs;
  readonly asks: boolean;
  readonly ticked: readonly string[];
  readonly tick: (id: string) => void;
  readonly go: Go;
}): ComponentChildren => {
  const { first, rows, more } = runs;
  if (first.state === 'pending') return <p class="note pending">Loading the runs…</p>;
  if (first.state === 'failed') return <Failure error={first.error} />;
  if (first.value.total === 0)
    return (
      <Empty>
        {asks ? (
          <p>No run matches.</p>
        ) : (
          <>
            <p>Nothing is recorded yet. Every run that you record or import is a row here.</p>
            <pre>stemma record -- python agent.py{'\n'}stemma import FILE</pre>
          </>
        )}
      </Empty>
    );
  const listed = rowsOf(rows);
  return (
    <VirtualList
      label="Runs"
      kind="list"
      count={listed.length}
      rowHeight={ROW}
      selected={-1}
      items=".run-name a"
      row={(index, seen) => {
        if (seen.last > listed.length - 20) queueMicrotask(more);
        const one = listed[index];
        if (one === undefined) return null;
        return one.kind === 'group' ? (
          <GroupRow head={one} />
        ) : (
          <RunRow
            row={one.row}
            ticked={ticked.includes(one.row.history)}
            tick={() => tick(one.row.history)}
            open={go}
          />
        );
      }}
    />
  );
};

/** What is done with the runs that are ticked: two are compared, more are a table of their own. */
const Ticked = ({
  ticked,
  runs,
  clear,
  go,
}: {
  readonly ticked: readonly string[];
  readonly runs: Runs;
  readonly clear: () => void;
  readonly go: Go;
}): ComponentChildren => {
  const [a, b] = ticked;
  const nameOf = (id: string): string => runs.rows.find(({ history }) => history === id)?.name ?? id;
  return (
    <footer class="runs-ticked" aria-label="Ticked runs">
      {ticked.length <= 2 ? (
        <span>
          {ticked.map((id, i) => (
            <span key={id}>
              {i > 0 && ' and '}
              <b>
                <SafeText text={nameOf(id)} />
              </b>
            </span>
          ))}
        </span>
      ) : (
        <span>{plural(ticked.length, 'run')}</span>
      )}
      <button class="plain" onClick={clear}>
        Clear
      </button>
      <button
        class="plain primary"
        disabled={b === undefined}
        onClick={() =>
          ticked.length === 2 && a !== undefined && b !== undefined
            ? go({
                history: a,
                show: 'compare',
                a: `${a}:main`,
                b: `${b}:main`,
                ticked: null,
              })
            : go({ of: ticked.join(','), ticked: null, q: null })
        }
      >
        Compare {ticked.length}
      </button>
    </footer>
  );
};
