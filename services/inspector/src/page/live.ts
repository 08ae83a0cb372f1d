import { ENDPOINTS, fromWireJson, StreamMessage, type StreamedEvent } from '@stemma/api';
import type { Queries } from '../asking/queries.ts';
import type { Changing } from '../tree/use-changes.ts';

/** Whether new events arrive as they happen. */
export type LiveState = 'connecting' | 'live' | 'offline';
export type Live = Changing & { state(): LiveState };

const RETRY = 2_000;
const GATHER_DELAY = 120;

/** Follows the server's events for as long as the page is open, and expires the queries that they concern. */
export const followEvents = (queries: Queries): Live => {
  const listeners = new Set<() => void>();
  let state: LiveState = 'connecting';
  let version = 0;
  let queuedEvents: StreamedEvent[] = [];

  const setState = (next: LiveState): void => {
    if (next === state) return;
    state = next;
    version++;
    for (const listener of listeners) listener();
  };
  const queueEvents = (events: readonly StreamedEvent[]): void => {
    if (queuedEvents.length === 0)
      setTimeout(() => {
        const batch = queuedEvents;
        queuedEvents = [];
        queries.expire((key) => batch.some((event) => concerns(event, key)));
      }, GATHER_DELAY);
    queuedEvents.push(...events);
  };
  /** A stream that could not be resumed may have missed anything. */
  const open = (resumed: boolean): void => {
    const source = new EventSource(ENDPOINTS.stream.path);
    let first = true;
    source.addEventListener('open', () => {
      setState('live');
      if (!resumed && first) queries.expire((key) => key.startsWith('now/'));
      first = false;
    });
    source.addEventListener('events', ({ data }: MessageEvent<string>) => {
      const message = StreamMessage.safeParse(fromWireJson(data));
      if (message.success) queueEvents(message.data.events);
    });
    const end = (): void => {
      source.close();
      setState('offline');
      setTimeout(() => open(false), RETRY);
    };
    source.addEventListener('end', end);
    // The browser resumes a broken connection by itself, but not one that the server refused.
    source.addEventListener('error', () =>
      source.readyState === EventSource.CLOSED ? end() : setState('offline'),
    );
  };
  open(true);
  return {
    state: () => state,
    version: () => version,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

/** Keys are `now/list/…`, `now/h/HISTORY/…` and `old/h/HISTORY/…`; a history may stand there by its name. */
export const concerns = ({ history, type }: StreamedEvent, key: string): boolean => {
  const [age, what, id = ''] = key.split('/');
  if (what === 'list') return true;
  const named = type === 'PositionNamed' || type === 'BranchStarted';
  return (age === 'now' || named) && (id.startsWith(history) || !/^h[a-z2-7]{20}(:\d+)?$/.test(id));
};
