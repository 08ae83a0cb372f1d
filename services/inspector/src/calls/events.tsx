import { toWireJson, type ApiClient, type LoggedEventAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Copy } from '../parts/copy.tsx';
import { indented } from '../parts/json-text.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import '../style/more-views.css';
import { useQuery } from '../asking/queries.ts';
import { grouped, isoTime, plural, shortTime } from '../parts/words.ts';
import type { PageView } from '../parts/page-view.ts';

/** Frames that are asked for at a time. */
const FRAMES = 100;
const PAGE = 1_000;

type Loaded = {
  readonly events: readonly LoggedEventAnswer[];
  readonly from: number;
  readonly frames: number;
};

const load = async (client: ApiClient, history: string, pages: number): Promise<Loaded> => {
  const { frames } = await client.history({ history });
  const from = Math.max(0, frames - pages * FRAMES);
  const events: LoggedEventAnswer[] = [];
  for (let next: number | null = from; next !== null;) {
    const page: Awaited<ReturnType<ApiClient['events']>> = await client.events({
      history,
      from: next,
      limit: PAGE,
    });
    events.push(...page.events);
    next = page.next;
  }
  return { events: events.reverse(), from, frames };
};

/** The accepted events of a history as they were recorded, the newest first, and new ones as they come. */
export const View: PageView = ({ address, go }) => {
  const history = address.history.split(':')[0] ?? address.history;
  const [pages, setPages] = useState(1);
  const [frozen, setFrozen] = useState<Loaded | null>(null);
  const [filter, setFilter] = useState('');
  const query = useQuery(
    `now/h/${history}/events/${pages}`,
    (client) => load(client, history, pages),
    history,
  );
  return (
    <div class="view-column">
      <Shown query={query} what="events">
        {(loaded) => {
          const { events, from } = frozen ?? loaded;
          const waiting = frozen === null ? 0 : loaded.frames - frozen.frames;
          const types = [...new Set(events.map(({ event }) => event.type))].sort((a, b) => (a < b ? -1 : 1));
          const shown = events.filter((one) => address.type === null || one.event.type === address.type);
          const wanted = filter.trim().toLowerCase();
          const found =
            wanted === '' ? shown : shown.filter((one) => toWireJson(one).toLowerCase().includes(wanted));
          return (
            <section class="panel fills" aria-label="Events">
              <header class="panel-head">
                <h2>
                  {grouped(found.length)} of {plural(events.length, 'event')}, from frame {grouped(from)}
                </h2>
                <button
                  class="toggle"
                  aria-pressed={frozen !== null}
                  onClick={() => setFrozen(frozen === null ? loaded : null)}
                >
                  {frozen === null ? 'Pause' : waiting === 0 ? 'Go on' : `${grouped(waiting)} new: go on`}
                </button>
              </header>
              <div class="side-facts filter">
                <select
                  aria-label="Type of event"
                  value={address.type ?? ''}
                  onChange={({ currentTarget }) => go({ type: currentTarget.value || null }, 'replace')}
                >
                  <option value="">every type</option>
                  {types.map((one) => (
                    <option key={one} value={one}>
                      {one}
                    </option>
                  ))}
                </select>
                <input
                  aria-label="Text in an event"
                  placeholder="a text in an event"
                  value={filter}
                  onInput={({ currentTarget }) => setFilter(currentTarget.value)}
                />
              </div>
              <ol class="scroll event-list" tabIndex={0} aria-label="Events, newest first">
                {found.map((one) => (
                  <Row key={`${one.seq}.${one.index}`} one={one} />
                ))}
                {found.length === 0 && <li class="note">No event has this.</li>}
                {from > 0 && (
                  <li>
                    <button class="more" onClick={() => setPages(pages + 1)}>
                      {FRAMES} older frames
                    </button>
                  </li>
                )}
              </ol>
            </section>
          );
        }}
      </Shown>
    </div>
  );
};

const Row = ({ one }: { readonly one: LoggedEventAnswer }): ComponentChildren => {
  const [open, setOpen] = useState(false);
  const row = useRef<HTMLLIElement>(null);
  const text = toWireJson(one.event);
  return (
    <li ref={row} class="event-row">
      <button class="event-open" aria-expanded={open} onClick={() => setOpen(!open)}>
        <code>
          @s{one.seq}.{one.index}
        </code>
        <b>{one.event.type}</b>
        <span>
          <SafeText text={'actor' in one.author ? one.author.actor : one.author.recorder} />
        </span>
        <time class="quiet" dateTime={isoTime(one.at)}>
          {shortTime(one.at)}
        </time>
        <span class="quiet event-text">
          <SafeText text={text.slice(0, 300)} />
        </span>
      </button>
      {open && (
        <div class="event-whole">
          <Copy text={text} words="JSON" />
          <pre class="content json">
            <SafeText text={indented(text, true)} />
          </pre>
        </div>
      )}
    </li>
  );
};
