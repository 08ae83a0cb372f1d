import type { HeldCallAnswer } from '@stemma/api';
import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../asking/queries.ts';

const NONE: readonly HeldCallAnswer[] = [];

/**
 * The calls that wait before they go out, of one history or of all, the first one first. Who reads them is drawn each
 * second while one does, as the time that is left changes.
 */
export const useHeld = (history?: string): readonly HeldCallAnswer[] => {
  const query = useQuery(history === undefined ? 'now/list/held' : `now/h/${history}/held`, (client) =>
    client.held(history === undefined ? {} : { history }),
  );
  const calls = query.state === 'done' ? query.value.calls : NONE;
  const [, tick] = useState(0);
  const isWaiting = calls.length > 0;
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(() => tick((n) => n + 1), 1_000);
    return () => clearInterval(timer);
  }, [isWaiting]);
  return calls;
};

/** How long a held call still waits: `4:12`. */
export const timeLeft = (until: number, now: number): string => {
  const seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (n: number): string => String(n).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
};
