import { toHex } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import type { BranchRef, Position, TreeView } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { HistorySummary, LoggedEvent, SnapshotSummary } from '@stemma/queries';
import {
  diffOf,
  eventsOf,
  flatTree,
  payloadOf,
  START,
  type FixtureBlock,
  type Frame,
} from './fixture-tree.ts';

/** One list of blocks for each cycle; what stands in `open` is in the active head. */
export type FixtureHistory = {
  readonly history: string;
  readonly name?: string;
  readonly cycles: readonly (readonly FixtureBlock[])[];
  readonly open?: readonly FixtureBlock[];
  readonly state?: HistorySummary['state'];
};

export type FixtureHome = Home & {
  /** Appends a frame with these blocks, and a commit if asked: what a recorder does. */
  append(history: string, blocks: readonly FixtureBlock[], commit: boolean): void;
};

type Kept = {
  readonly name: string | null;
  readonly state: HistorySummary['state'];
  readonly frames: Frame[];
};

/** What was appended, and what is read from it. */
const openFixtureLog = (fixtures: readonly FixtureHistory[]) => {
  const kept = new Map<string, Kept>();
  const log: Frame[] = [];
  let wake: (() => void)[] = [];

  const of = (history: string): Kept => {
    const found = kept.get(history);
    if (found === undefined) throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`);
    return found;
  };
  const write = (history: string, events: readonly HistoryEvent[]): void => {
    const { frames } = of(history);
    const frame = { history, seq: frames.length, at: START + log.length * 1_000, events };
    frames.push(frame);
    log.push(frame);
    const sleeping = wake;
    wake = [];
    for (const one of sleeping) one();
  };
  const append: FixtureHome['append'] = (history, blocks, commit) =>
    write(history, eventsOf(of(history).frames, blocks, commit));

  for (const { history, name = null, cycles, open = [], state = 'open' } of fixtures) {
    kept.set(history, { name, state, frames: [] });
    write(history, [started(name)]);
    for (const blocks of cycles) append(history, blocks, true);
    if (open.length > 0) append(history, open, false);
  }
  return { kept, log, of, append, nextWrite: (wakeUp: () => void) => void wake.push(wakeUp) };
};

type FixtureLog = ReturnType<typeof openFixtureLog>;

const started = (name: string | null): HistoryEvent => ({
  type: 'HistoryStarted',
  name,
  ids: { root: 'root', sys: 'sys', seq: 'seq', ah: 'ah' },
  thread: 'full',
  cycle: 0,
  source: null,
  salvaged: null,
});

const snapshotsOf = ({ of }: FixtureLog, history: string): SnapshotSummary[] =>
  of(history).frames.flatMap(({ seq, at, events }) => {
    const commit = events.find((event) => event.type === 'SnapshotCommitted');
    if (commit === undefined) return [];
    return [
      {
        label: `@c${commit.cycle}`,
        cycle: commit.cycle,
        branchId: 0,
        seq,
        treeHash: toHex(commit.treeHash),
        threadHash: toHex(commit.threadHash),
        at,
        author: { recorder: 'fixture' },
        command: `${history}-${seq}`,
        ...commit.counts,
        names: commit.cycle === 2 ? ['second'] : [],
        calls: null,
        call: null,
      },
    ];
  });

const newestOf = ({ of }: FixtureLog, history: string): number => of(history).frames.length - 1;

const positionAt = (fixture: FixtureLog, history: string, seq: number): Position => {
  const before = snapshotsOf(fixture, history)
    .filter((one) => one.seq <= seq)
    .at(-1);
  const committed = before?.seq === seq;
  return {
    history,
    branchId: 0,
    seq,
    cycle: before?.cycle ?? null,
    committed,
    label: committed ? before.label : `@s${seq}`,
    branch: history,
  };
};

const positionOf = (fixture: FixtureLog, { history }: BranchRef, reference?: string): Position => {
  if (reference === undefined) return positionAt(fixture, history, newestOf(fixture, history));
  const [, kind, number] = /^@([cts])(-?\d+)$/.exec(reference) ?? [];
  const all = snapshotsOf(fixture, history);
  const seq =
    kind === 's'
      ? Number(number)
      : kind === 't'
        ? all.at(Number(number) - 1)?.seq
        : all.find((one) => one.cycle === Number(number))?.seq;
  if (seq === undefined || seq > newestOf(fixture, history))
    throw fail('E_SNAPSHOT_NOT_FOUND', `there is no ${reference}`);
  return positionAt(fixture, history, seq);
};

const viewAt = ({ of }: FixtureLog, at: Position): TreeView => ({
  position: at,
  tree: flatTree(of(at.history).frames.slice(0, at.seq + 1)),
  payloads: ({ seq, index }) => payloadOf(of(at.history).frames[seq]?.events[index]),
  thread: 'full',
});

const logged = ({ history, seq, at, events }: Frame): LoggedEvent[] =>
  events.map((event, index) => ({
    history,
    branch: history,
    branchId: 0,
    seq,
    index,
    command: `${history}-${seq}`,
    at,
    author: { recorder: 'fixture' },
    event,
  }));

const summaryOf = (fixture: FixtureLog, history: string): HistorySummary => {
  const { name, state, frames } = fixture.of(history);
  return {
    history,
    name,
    state,
    labels: [],
    stopped: state === 'open' ? null : frames.length - 1,
    startedAt: frames[0]?.at ?? 0,
    updatedAt: frames.at(-1)?.at ?? 0,
    source: null,
    import: null,
    frames: frames.length,
    events: frames.reduce((sum, { events }) => sum + events.length, 0),
    cycles: snapshotsOf(fixture, history).length,
    branches: [
      {
        branch: history,
        branchId: 0,
        name: 'main',
        parent: null,
        at: null,
        calledBy: null,
        mayContinue: null,
      },
    ],
  };
};

const newestFirst = (fixture: FixtureLog): readonly HistorySummary[] =>
  [...fixture.kept.keys()]
    .map((history) => summaryOf(fixture, history))
    .sort((a, b) => b.updatedAt - a.updatedAt);

const readingOf = (fixture: FixtureLog): FixtureHome['read'] => {
  const { of, kept } = fixture;
  const view = (at: Position): TreeView => viewAt(fixture, at);
  return {
    histories: async () => newestFirst(fixture),
    listHistories: async ({ skip = 0, limit = Infinity }) => ({
      total: kept.size,
      histories: newestFirst(fixture).slice(skip, skip + limit),
    }),
    history: async (id) => summaryOf(fixture, id),
    snapshots: async (
      { history },
      { before = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY } = {},
    ) =>
      snapshotsOf(fixture, history)
        .filter(({ cycle }) => cycle < before)
        .slice(-limit),
    partialView: async (at) => view(at),
    nodeView: async (at, id) => (view(at).tree.indexOf(id) === undefined ? undefined : view(at)),
    view: async (at) => view(at),
    tree: async (at) => view(at),
    withPayloads: async (history, fn) =>
      fn(({ seq, index }) => payloadOf(of(history).frames[seq]?.events[index])),
    select: async (branchRef, selector) => {
      const at = positionOf(fixture, branchRef);
      return {
        position: at,
        ids: view(at).tree.ids.filter((id) => selector === '*' || selector === `#${id}`),
      };
    },
    diff: async (branchRef, a, b) =>
      diffOf(view(positionOf(fixture, branchRef, a)).tree, view(positionOf(fixture, branchRef, b)).tree),
    diffTrees: async (older, newer) => diffOf(older.tree, newer.tree),
    events: async (history, { from = 0, limit = 100 } = {}) =>
      of(history)
        .frames.slice(from, from + limit)
        .flatMap(logged),
    findCommand: () => Promise.resolve(undefined),
    range: () => Promise.reject(fail('E_INTERNAL', 'a fixture has no ranges')),
  };
};

const followOf =
  ({ log, nextWrite }: FixtureLog): FixtureHome['follow'] =>
  ({ signal, after, history }) => {
    let next = after === undefined ? log.length : Number(after.replace('f', '')) + 1;
    return {
      async *[Symbol.asyncIterator]() {
        if (!(next <= log.length)) throw fail('E_STREAM_GONE', `the log does not have ${after ?? ''}`);
        for (;;) {
          while (next < log.length) {
            const frame = log[next] as Frame;
            yield {
              cursor: `f${next++}`,
              events: history === undefined || frame.history === history ? logged(frame) : [],
            };
          }
          await new Promise<void>((resolve, reject) => {
            nextWrite(resolve);
            signal.addEventListener('abort', () => reject(fail('E_CANCELLED', 'cancelled')), {
              once: true,
            });
          });
        }
      },
    };
  };

/**
 * A home of fixtures, in memory: histories that only grow, one branch each. It stands in where a test needs a log that
 * refuses, floods or stalls, or a page needs contents that no importer would write; everything else uses the real one.
 */
export const fixtureHome = (fixtures: readonly FixtureHistory[]): FixtureHome => {
  const fixture = openFixtureLog(fixtures);
  const { kept, log, of, append } = fixture;
  return {
    // Questions are asked of real homes only.
    queries: {} as never,
    privacy: { redacts: false, redactText: (text: string) => text } as never,
    calls: {} as never,
    steering: {} as never,
    operations: {
      partitions: async () => [],
      ready: async () => undefined,
      damage: async () => ({ closed: [], lost: [], stopped: [], sealed: [] }),
      doctor: () => Promise.reject(new Error('only real homes are examined')),
      checkpoint: () => Promise.reject(new Error('only real homes are signed')),
      stats: async () => ({ frames: log.length }),
      replay: () => Promise.reject(fail('E_INTERNAL', 'a fixture is not replayed')),
      verify: () => Promise.reject(fail('E_INTERNAL', 'a fixture is not verified')),
    } as never,
    tryInFork: () => Promise.reject(fail('E_NOT_ALLOWED', 'a fixture records no calls')),
    branches: { lineOf: (branchRef: BranchRef) => Promise.resolve(branchRef) } as never,
    directory: '(memory)',
    append,
    submit: async ({ history, steps }) => {
      const blocks = steps.flatMap((step) =>
        step.op === 'insert' ? [step.node as unknown as FixtureBlock] : [],
      );
      append(
        history,
        blocks,
        steps.some((step) => step.op === 'commit'),
      );
      const frame = of(history).frames.at(-1);
      const at = { history, branchId: 0, seq: frame?.seq ?? 0 };
      const position = { ...at, cycle: null, committed: false, label: `@s${at.seq}`, branch: history };
      return { ...at, events: frame?.events ?? [], position, repeated: false };
    },
    find: async (text) => {
      const [history] = [...kept].find(([id, { name }]) => id === text || name === text) ?? [];
      if (history === undefined) throw fail('E_HISTORY_NOT_FOUND', `there is no history ${text}`);
      return { history, branchId: 0, branch: history };
    },
    position: async (branchRef, reference) => positionOf(fixture, branchRef, reference),
    read: readingOf(fixture),
    follow: followOf(fixture),
    catchUp: async () => undefined,
    close: async () => undefined,
  };
};

/** A home of two histories with nothing in them. */
export const twoHistories = () =>
  fixtureHome([
    { history: 'ha', cycles: [] },
    { history: 'hb', cycles: [] },
  ]);
