import { canonicalJson } from '@stemma/canonical';
import { fail, isStemmaError, VERSION } from '@stemma/errors';
import { isAccessDenied, openHome, openRetry, type Home, type Retry } from '@stemma/home';
import { partitionOf } from '@stemma/log';
import { anySignal } from '@stemma/machine';
import { openMetrics, serveStatus } from '@stemma/metrics';
import { openAllowedMinds, type MindOptions } from '@stemma/model-clients';
import { serveRun } from '@stemma/pools';
import type { RequestedRun } from '@stemma/queries';
import { defined } from '@stemma/values';
import { setTimeout as sleep } from 'node:timers/promises';
import { allPartitions, sharedPartitions, type AssignedPartitions } from './assigned-partitions.ts';

export type RunnerRun = {
  /** The home, where the embedded log is. */
  readonly directory: string;
  /** `kafka://HOST:PORT/PREFIX`; without one, the embedded log of the home. */
  readonly log?: string;
  /** `postgres://…`: the database with rows and contents. Runners that name the same one share the runs. */
  readonly rows?: string;
  /** What it calls itself in the log. */
  readonly name: string;
  /** Branches that run at the same time. Default 8. */
  readonly atOnce?: number;
  /** End when no run is open. */
  readonly once?: boolean;
  /** The port of the status server on the loopback address; 0: any free port. Default: no status server. */
  readonly statusPort?: number;
  /** Milliseconds without a statement after which other runners take this one's runs. Default 2,000. */
  readonly silence?: number;
  /** Milliseconds between two looks at what is asked for. Default 300. */
  readonly pause?: number;
  /** Keys and addresses of minds, and `STEMMA_MINDS`, which of them may be asked. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly minds?: Omit<MindOptions, 'env'>;
  readonly signal: AbortSignal;
  /** Receives sentences for people. */
  readonly say: (sentence: string) => void;
};

/** What a runner did. */
export type RunnerReport = { readonly rounds: number; readonly ended: number };

const AT_ONCE = 8;
const PAUSE_MS = 300;
const SILENCE_MS = 2_000;

/**
 * Makes the rounds of pools that somebody asked for, several branches at once, until the signal aborts (pool: Runner). Any number of runners
 * may work on one log: in one directory each branch is claimed by one process; with rows in a database runners share the partitions of the
 * log, and when one ends, in whatever way, others go on with its runs. What they record, the log orders: of two frames for the same round one
 * counts. It waits while brokers or the database cannot be reached, and once it has begun also while the database refuses its user.
 *
 * @throws E_USAGE, E_HOME_NOT_FOUND, E_BROKERS_REFUSED, E_DATABASE_…
 */
export const runRunner = async (run: RunnerRun): Promise<RunnerReport> => {
  const { signal, say, directory, log, rows, statusPort, silence = SILENCE_MS } = run;
  let isReady = false;
  const retry = openRetry(
    signal,
    say,
    (error) => error.code === 'E_LOG_NOT_FOUND' || (isReady && isAccessDenied(error)),
  );
  const metrics = openMetrics({ service: 'runner', version: VERSION });
  metrics.add('stemma_rounds_total', {}, 0);
  await using closing = new AsyncDisposableStack();
  if (statusPort !== undefined) {
    const ready = (): void => {
      const waiting = retry.waitingFor();
      if (waiting !== null) throw fail('E_BUSY', `waiting: ${waiting}`);
      if (!isReady) throw fail('E_BUSY', 'the log and the rows are not open yet');
    };
    const status = await serveStatus({ metrics, port: statusPort, ready });
    closing.defer(() => status.close());
    say(`status at ${status.url}`);
  }
  const report = { rounds: 0, ended: 0 };
  try {
    const home = await retry.run(() =>
      openHome({
        directory,
        ...defined({ log, rows }),
        say,
      }),
    );
    closing.defer(() => home.close());
    const partitions = (await retry.run(() => home.operations.partitions())).length;
    const assigned =
      rows === undefined
        ? allPartitions(partitions)
        : sharedPartitions({
            rows,
            group: `runner ${canonicalJson((await retry.run(() => home.operations.stats()))['log'] ?? null)}`,
            partitions,
            silence,
            retry,
          });
    closing.defer(() => assigned.close());
    isReady = true;
    say(`${run.name} makes the rounds that are asked for`);
    await serveRuns({
      run,
      home,
      retry,
      partitions,
      assigned,
      report,
      made: () => metrics.add('stemma_rounds_total', {}, 1),
      open: (runs) => metrics.set('stemma_runs_active', {}, runs),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return report;
};

type Serving = {
  readonly run: RunnerRun;
  readonly home: Home;
  readonly retry: Retry;
  readonly partitions: number;
  readonly assigned: AssignedPartitions;
  readonly report: { rounds: number; ended: number };
  readonly made: () => void;
  readonly open: (runs: number) => void;
};

/** A run whose rounds are being made. */
type Active = { readonly partition: number; readonly abort: AbortController; readonly over: Promise<void> };

const serveRuns = async ({
  run,
  home,
  retry,
  partitions,
  assigned,
  report,
  made,
  open,
}: Serving): Promise<void> => {
  const { signal, say, env, atOnce = AT_ONCE, once = false, silence = SILENCE_MS } = run;
  const pause = Math.min(run.pause ?? PAUSE_MS, silence / 6);
  const allow = openAllowedMinds(env);
  const active = new Map<string, Active>();
  /** Runs that cannot be served, by why: they are told once. */
  const refused = new Set<string>();
  let wake = new AbortController();
  const keyOf = ({ history, branchId }: RequestedRun): string => `${history} ${branchId}`;

  const begin = (requested: RequestedRun): void => {
    const { history, run: id, branchId } = requested;
    const abort = new AbortController();
    const work = async (): Promise<void> => {
      try {
        const how = await serveRun(home, requested, {
          runner: run.name,
          signal: anySignal([signal, abort.signal]),
          minds: { ...run.minds, env, allow },
          clock: () => Date.now(),
          progress: () => {
            report.rounds++;
            made();
          },
        });
        if (how === null) return;
        report.ended++;
        say(`${history}:${branchId} ${id}: ${how}`);
      } catch (error) {
        if (signal.aborted || abort.signal.aborted || isStemmaError(error, 'E_BUSY')) return;
        if (!isStemmaError(error)) throw error;
        if (!error.row.retriable && !isAccessDenied(error)) refused.add(`${history} ${id}`);
        say(`${history}:${branchId} ${id}: ${error.message} (${error.code})`);
      }
    };
    const partition = partitionOf(history, partitions);
    const over = work().finally(() => {
      active.delete(keyOf(requested));
      wake.abort();
    });
    // What is thrown is found where it is waited for.
    over.catch(() => undefined);
    active.set(keyOf(requested), { partition, abort, over });
  };

  try {
    while (!signal.aborted) {
      const mine = await assigned.renew();
      for (const { partition, abort } of active.values()) if (!mine.has(partition)) abort.abort();
      // A run that ends while they are asked for may still stand in the answer.
      const busy = new Set(active.keys());
      const requested = await retry.run(() => home.queries.runs.open());
      const waiting = requested.filter(({ history, run: id }) => !refused.has(`${history} ${id}`));
      for (const next of waiting) {
        if (active.size >= atOnce) break;
        const key = keyOf(next);
        if (!busy.has(key) && !active.has(key) && mine.has(partitionOf(next.history, partitions)))
          begin(next);
      }
      open(active.size);
      if (once && waiting.length === 0 && active.size === 0) return;
      wake = new AbortController();
      await sleep(pause, undefined, { signal: anySignal([signal, wake.signal]) }).catch(() => undefined);
    }
  } finally {
    for (const { abort } of active.values()) abort.abort();
    await Promise.all([...active.values()].map(({ over }) => over));
  }
};
