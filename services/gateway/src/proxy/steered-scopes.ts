import { scopeOfRun } from '@stemma/history';
import { steeringVersion, type Home } from '@stemma/home';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskedScope } from './entry.ts';

/** Where calls are that observers may steer: only these are read before they go out. */
export type SteeredScopes = {
  /** Names and ids of histories. */
  readonly histories: readonly string[];
  /** Scopes in which their calls were found (calls §3). */
  readonly scopes: readonly string[];
};

const NOBODY_STEERS: SteeredScopes = { histories: [], scopes: [] };

/** How often the log is asked whether somebody began to steer, though no call asks, in milliseconds. */
const INTERVAL = 250;

/** The beginning of an id names a history, if it has so many letters. */
const SHORTEST = 4;

/** True if a call that is looked for there may be one that observers steer. */
export const isIn = ({ histories, scopes }: SteeredScopes, place: AskedScope): boolean => {
  if (place?.steer === true) return true;
  if (histories.length === 0) return false;
  if (place === null) return scopes.includes('all');
  if ('run' in place) return scopes.includes(scopeOfRun(place.run));
  const [name = ''] = place.name.split(':', 1);
  return histories.some((each) => each === name || (name.length >= SHORTEST && each.startsWith(name)));
};

/** Which calls may be steered, as the log said when the home had this version of who steers. */
export type KnownScopes = {
  readonly scopes: SteeredScopes;
  /** Null: others may steer who do not have the directory, so only the log knows. */
  readonly version: string | null;
};

export const NOTHING_KNOWN: KnownScopes = { scopes: NOBODY_STEERS, version: null };

/** True if nobody who was told that a call is steered was told so after these scopes were read. */
export const areCurrent = ({ version }: KnownScopes, directory: string): boolean =>
  version !== null && version === steeringVersion(directory);

/** What the log says of who steers. */
type ScopesReader = {
  readonly first: KnownScopes;
  /** Resolves when all is known that the log had when this was called. */
  readonly refresh: () => Promise<void>;
};

/** Reads which calls may be steered; `changed` hears of it whenever that is no longer so, until the signal. */
export const openScopesReader = async (
  home: Home,
  signal: AbortSignal,
  changed: (known: KnownScopes) => void,
): Promise<ScopesReader> => {
  const read = async (): Promise<KnownScopes> => {
    const version = home.operations.isLogRemote ? null : steeringVersion(home.directory);
    return { scopes: await home.steering.scopes(), version };
  };
  const first = await read().catch(() => NOTHING_KNOWN);
  let before = JSON.stringify(first);
  const readOnce = async (): Promise<void> => {
    // A log that is away steers nobody anew.
    const known = await read().catch(() => undefined);
    if (known === undefined || JSON.stringify(known) === before) return;
    before = JSON.stringify(known);
    changed(known);
  };
  let [running, next]: [Promise<void>, Promise<void> | undefined] = [Promise.resolve(), undefined];
  /** All who ask while one is read share the next one. */
  const refresh = (): Promise<void> =>
    (next ??= running.then(() => {
      next = undefined;
      return (running = readOnce());
    }));
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(INTERVAL, undefined, { signal, ref: false });
      await refresh();
    }
  };
  watch().catch(() => undefined);
  return { first, refresh };
};
