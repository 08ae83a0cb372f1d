import type { Home } from '@stemma/home';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskedScope } from './entry.ts';

/** Where calls are that observers may steer: only these are read before they go out. */
export type SteeredScopes = {
  /** Names and ids of histories. */
  readonly histories: readonly string[];
  /** Scopes in which their calls were found (calls §3). */
  readonly scopes: readonly string[];
};

export const NOBODY_STEERS: SteeredScopes = { histories: [], scopes: [] };

/** How often the log is asked whether somebody began to steer, in milliseconds. */
const INTERVAL = 250;

/** The beginning of an id names a history, if it has so many letters. */
const SHORTEST = 4;

/** True if a call that is looked for there may be one that observers steer. */
export const isIn = ({ histories, scopes }: SteeredScopes, place: AskedScope): boolean => {
  if (place?.steer === true) return true;
  if (histories.length === 0) return false;
  if (place === null) return scopes.includes('all');
  if ('run' in place) return scopes.includes(`run:${place.run}`);
  const [name = ''] = place.name.split(':', 1);
  return histories.some((each) => each === name || (name.length >= SHORTEST && each.startsWith(name)));
};

/** Which calls may be steered now; `changed` hears of it whenever that is no longer so, until the signal. */
export const openSteeredScopes = async (
  home: Home,
  signal: AbortSignal,
  changed: (scopes: SteeredScopes) => void,
): Promise<SteeredScopes> => {
  const read = (): Promise<SteeredScopes> => home.steering.scopes();
  const first = await read().catch(() => NOBODY_STEERS);
  const watch = async (): Promise<void> => {
    let before = JSON.stringify(first);
    while (!signal.aborted) {
      await sleep(INTERVAL, undefined, { signal, ref: false });
      // A log that is away steers nobody anew.
      const now = await read().catch(() => undefined);
      if (now === undefined || JSON.stringify(now) === before) continue;
      before = JSON.stringify(now);
      changed(now);
    }
  };
  watch().catch(() => undefined);
  return first;
};
