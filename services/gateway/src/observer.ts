import { ENDPOINTS, type Endpoint, type EndpointName } from '@stemma/api';
import { NAME_CHARACTER } from '@stemma/errors';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { NewObservation } from '@stemma/queries';
import { nanosecondsOf } from '@stemma/values';
import { randomUUID } from 'node:crypto';

/** Notes who looks at what, and records it after a while: what is the same is one observation (pool: Observations). */
export type Observer = {
  /** A request was answered that names its actor. */
  readonly see: (
    name: EndpointName,
    actor: string,
    input: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
  /** Records what was noted. */
  readonly flush: () => Promise<void>;
};

const FLUSH_DELAY = 1_000;
/** The number of different observations that are collected before they are recorded. */
const MAX_NOTED = 1_000;

type NotedObservations = {
  readonly branchRef: BranchRef;
  readonly actor: string;
  readonly seen: Map<string, NewObservation>;
};

/** The position at the head of a selector. */
const REFERENCE = new RegExp(`^\\S*@[^\\s.:*]+(?::${NAME_CHARACTER}+)?`, 'u');

export const openObserver = (home: Home, report: (error: unknown) => void): Observer => {
  let noted = new Map<string, NotedObservations>();
  let timer: NodeJS.Timeout | undefined;
  let count = 0;

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const before = noted;
    noted = new Map();
    count = 0;
    for (const { branchRef, actor, seen } of before.values())
      await home.branches.observe(branchRef, actor, [...seen.values()], randomUUID()).catch(report);
  };
  const see: Observer['see'] = async (name, actor, input) => {
    const { observed: kind }: Endpoint = ENDPOINTS[name];
    const { history, at, selector, node } = input as {
      history: string;
      at?: string;
      selector?: string;
      node?: string;
    };
    if (kind === undefined) return;
    const branchRef = await home.find(history);
    if (!(await home.branches.isObserved(branchRef))) return;
    const ref = selector === undefined ? at : REFERENCE.exec(selector)?.[0];
    const position = await home.position(branchRef, ref);
    const what = node === undefined ? (selector ?? at ?? name) : `#${node}`;
    const now = nanosecondsOf(Date.now());
    const of = `${branchRef.history}:${branchRef.branchId} ${actor}`;
    const own = noted.get(of) ?? { branchRef, actor, seen: new Map<string, NewObservation>() };
    noted.set(of, own);
    const key = `${kind} ${position.branchId} ${position.seq} ${what}`;
    const known = own.seen.get(key);
    own.seen.set(
      key,
      known === undefined
        ? { kind, what, position, times: 1, firstAt: now, lastAt: now }
        : { ...known, times: known.times + 1, lastAt: now },
    );
    if (known === undefined) count++;
    timer ??= setTimeout(() => void flush(), FLUSH_DELAY).unref();
    if (count >= MAX_NOTED) await flush();
  };
  return { see, flush };
};
