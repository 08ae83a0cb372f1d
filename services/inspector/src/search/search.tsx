import type { ApiClient } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Go } from '../page/address.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Empty, Shown } from '../asking/states.tsx';
import { useQuery } from '../asking/queries.ts';
import { grouped, isoTime, shortTime } from '../parts/words.ts';

type Answer = Awaited<ReturnType<ApiClient['search']>>;
type Hit = Answer['hits'][number];

const LIMIT = 50;
/** Milliseconds without a key after which the server is asked. */
const PAUSE = 150;

const KINDS = [
  ['', 'everything'],
  ['content', 'contents'],
  ['name', 'names'],
  ['note', 'notes'],
  ['intervention', 'interventions'],
  ['call', 'calls'],
  ['error', 'errors'],
] as const;
type Kind = (typeof KINDS)[number][0];

/** Finds texts in all histories, as a dialog; what is looked for stands in the address. */
export const SearchDialog = ({ text, go }: { readonly text: string; readonly go: Go }): ComponentChildren => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState(text);
  const [kind, setKind] = useState<Kind>('');
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (typed === text) return undefined;
    const timer = setTimeout(() => go({ find: typed }, 'replace'), PAUSE);
    return () => clearTimeout(timer);
  }, [typed, text]);
  const choose = ({ branch, call, label, node }: Hit): void =>
    go({ find: null, history: branch, at: call ?? label, node, show: null });
  return (
    <dialog
      ref={dialog}
      class="search"
      aria-label="Search"
      onClose={() => go({ find: null })}
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
      onKeyDown={moveFocus}
    >
      <div class="search-line">
        <input
          // Of a field of the type `search` Escape empties it first.
          type="text"
          role="searchbox"
          autofocus
          aria-label="Search in all histories"
          placeholder={'words, "a phrase", begin*, -not'}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <select
          aria-label="What to search"
          value={kind}
          onChange={({ currentTarget }) =>
            setKind(KINDS.find(([one]) => one === currentTarget.value)?.[0] ?? '')
          }
        >
          {KINDS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {text.trim() === '' ? (
        <Empty>
          <p>
            Finds contents of any time, names, notes, interventions, tools, models, answers and errors. The
            same on the command line: <code>./stemma grep 'refund "travel insurance"'</code>
          </p>
        </Empty>
      ) : (
        <Hits text={text} kind={kind} choose={choose} />
      )}
    </dialog>
  );
};

const Hits = ({
  text,
  kind,
  choose,
}: {
  readonly text: string;
  readonly kind: Kind;
  readonly choose: (hit: Hit) => void;
}): ComponentChildren => {
  const query = useQuery(
    `now/search/${kind}/${text}`,
    (client) => client.search({ q: text, limit: LIMIT, ...(kind !== '' && { kind }) }),
    'search',
  );
  return (
    <Shown query={query} what="places">
      {({ hits, total, more, ranked }) => (
        <>
          <p class="search-count quiet" role="status">
            {total === 0
              ? 'Nothing found.'
              : more
                ? `more than ${grouped(total)} places: the newest ${hits.length}`
                : `${hits.length < total ? `the ${ranked ? 'best' : 'newest'} ${hits.length} of ` : ''}${grouped(total)} ${total === 1 ? 'place' : 'places'}`}
          </p>
          <ul class="search-hits">
            {hits.map((hit) => (
              <li key={`${hit.history} ${hit.seq} ${hit.index} ${hit.kind}`}>
                <button class="search-hit" onClick={() => choose(hit)}>
                  <span class="search-where">
                    <b>
                      <SafeText text={hit.name ?? hit.history} />
                    </b>
                    <span>{hit.call ?? hit.label}</span>
                    {hit.abandoned && <span class="quiet">abandoned</span>}
                    <span class={`search-what role-${hit.role ?? hit.kind}`}>
                      <SafeText text={hit.node === null ? hit.kind : `${hit.role ?? hit.kind} ${hit.node}`} />
                    </span>
                    <time class="quiet" dateTime={isoTime(hit.at)}>
                      {shortTime(hit.at)}
                    </time>
                  </span>
                  <Marked excerpt={hit.excerpt} />
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Shown>
  );
};

/** One line of the text, with what was looked for marked. */
const Marked = ({ excerpt: { text, marks } }: { readonly excerpt: Hit['excerpt'] }): ComponentChildren => {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const [from, to] of marks) {
    parts.push(<SafeText text={text.slice(at, from)} />);
    parts.push(
      <mark>
        <SafeText text={text.slice(from, to)} />
      </mark>,
    );
    at = to;
  }
  parts.push(<SafeText text={text.slice(at)} />);
  return <span class="search-text">{parts}</span>;
};

/** ↑ and ↓ go from the line to the places and between them. */
export const moveFocus = (event: KeyboardEvent): void => {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const { currentTarget, target } = event;
  if (step === 0 || !(currentTarget instanceof Element) || target instanceof HTMLSelectElement) return;
  const stops = [...currentTarget.querySelectorAll<HTMLElement>('input, .search-hit')];
  const now = stops.findIndex((one) => one === target);
  const next = stops[Math.max(0, Math.min(stops.length - 1, now + step))];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
};
