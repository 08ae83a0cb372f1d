import type { HistorySummaryAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isChosen } from './chosen.ts';
import { useOneStop } from '../parts/one-stop.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Empty, Shown } from '../asking/states.tsx';
import { useQuery } from '../asking/queries.ts';
import { grouped, isoTime, plural, shortId, shortTime } from '../parts/words.ts';

const PAGE = 100;

/** The first pages of the histories, the last changed first. */
export const useHistories = (pages: number) =>
  useQuery(`now/list/${pages}`, (client) => client.histories({ limit: PAGE * pages }), 'list');

export const Histories = ({
  chosen,
  choose,
}: {
  readonly chosen: string | null;
  readonly choose: (history: string) => void;
}): ComponentChildren => {
  const [pages, setPages] = useState(1);
  const query = useHistories(pages);
  const list = useRef<HTMLUListElement>(null);
  useOneStop(list, '.history, .more');
  return (
    <nav class="panel histories" aria-label="Histories">
      <header class="panel-head">
        <h2>Histories</h2>
        {query.state === 'done' && <span class="quiet">{grouped(query.value.total)}</span>}
      </header>
      {query.state === 'done' && <Damage sentences={query.value.damage} />}
      <Shown query={query} what="histories">
        {({ histories, total, damage }) =>
          total === 0 && damage.length > 0 ? (
            <Empty>
              <p>No history can be shown: the log is damaged.</p>
            </Empty>
          ) : total === 0 ? (
            <Empty>
              <p>Nothing is recorded yet.</p>
              <p>
                Import a conversation: <code>./stemma import FILE</code>. It appears here automatically.
              </p>
            </Empty>
          ) : (
            <ul ref={list} class="scroll history-list" aria-label="Histories, ↑ ↓ go through them">
              {histories.map((one) => (
                <li key={one.history}>
                  <HistoryRow
                    summary={one}
                    chosen={isChosen(one, chosen)}
                    choose={() => choose(one.history)}
                  />
                </li>
              ))}
              {histories.length < total && pages < 5 && (
                <li>
                  <button class="more" onClick={() => setPages(pages + 1)}>
                    Show more of {grouped(total)}
                  </button>
                </li>
              )}
            </ul>
          )
        }
      </Shown>
    </nav>
  );
};

/** Recorded histories that the page does not list. */
const Damage = ({ sentences }: { readonly sentences: readonly string[] }): ComponentChildren =>
  sentences.length > 0 && (
    <div class="note failure" role="alert">
      {sentences.map((sentence) => (
        <p key={sentence}>
          <SafeText text={sentence} />
        </p>
      ))}
    </div>
  );

const HistoryRow = ({
  summary: { history, name, preview, cycles, state, stopped, updatedAt, branches },
  chosen,
  choose,
}: {
  readonly summary: HistorySummaryAnswer;
  readonly chosen: boolean;
  readonly choose: () => void;
}): ComponentChildren => {
  const row = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (chosen) row.current?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <button
      ref={row}
      class="history"
      aria-current={chosen ? 'true' : undefined}
      onClick={choose}
      title={history}
    >
      <span class="history-name">
        <SafeText text={name ?? shortId(history)} />
        {state !== 'open' && (
          <span class="badge bad" title={`frames after ${String(stopped)} are not served: run stemma verify`}>
            {state}
          </span>
        )}
      </span>
      <span class="history-preview">
        {preview === null ? <i>no user message</i> : <SafeText text={preview} />}
      </span>
      <span class="history-facts quiet">
        <span>{plural(cycles, 'cycle')}</span>
        {branches.length > 1 && <span>{plural(branches.length, 'branch', 'branches')}</span>}
        <time dateTime={isoTime(updatedAt)} title={isoTime(updatedAt)}>
          {shortTime(updatedAt)}
        </time>
      </span>
    </button>
  );
};
