import type { EndpointName } from '@stemma/api';
import type { ObservationKind } from '@stemma/events';
import type { Line } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { Observed } from '@stemma/queries';
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

/** What a question is when somebody looks. */
const KINDS: Partial<Record<EndpointName, ObservationKind>> = {
  tree: 'opened',
  node: 'opened',
  thread: 'opened',
  select: 'selected',
  export: 'exported',
};

const WAIT = 1_000;
/** So many different observations are noted before they are recorded. */
const MOST = 1_000;

type Noted = { readonly line: Line; readonly actor: string; readonly seen: Map<string, Observed> };

export const openObserver = (home: Home, report: (error: unknown) => void): Observer => {
  let noted = new Map<string, Noted>();
  let timer: NodeJS.Timeout | undefined;
  let count = 0;

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const before = noted;
    noted = new Map();
    count = 0;
    for (const { line, actor, seen } of before.values())
      await home.lineages.observe(line, actor, [...seen.values()], randomUUID()).catch(report);
  };
  const see: Observer['see'] = async (name, actor, input) => {
    const kind = KINDS[name];
    const { history, at, selector, node } = input as {
      history: string;
      at?: string;
      selector?: string;
      node?: string;
    };
    if (kind === undefined) return;
    const line = await home.find(history);
    if (!(await home.lineages.isObserved(line))) return;
    const ref = selector === undefined ? at : /^\S*@[^\s.:*]+(?::[A-Za-z0-9_.-]+)?/.exec(selector)?.[0];
    const position = await home.position(line, ref);
    const what = node === undefined ? (selector ?? at ?? name) : `#${node}`;
    const now = BigInt(Date.now()) * 1_000_000n;
    const of = `${line.history}:${line.strand} ${actor}`;
    const own = noted.get(of) ?? { line, actor, seen: new Map<string, Observed>() };
    noted.set(of, own);
    const key = `${kind} ${position.strand} ${position.seq} ${what}`;
    const known = own.seen.get(key);
    own.seen.set(
      key,
      known === undefined
        ? { kind, what, position, times: 1, firstAt: now, lastAt: now }
        : { ...known, times: known.times + 1, lastAt: now },
    );
    if (known === undefined) count++;
    timer ??= setTimeout(() => void flush(), WAIT).unref();
    if (count >= MOST) await flush();
  };
  return { see, flush };
};
