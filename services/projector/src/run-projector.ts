import { fail, isStemmaError, VERSION } from '@stemma/errors';
import {
  isAccessDenied,
  openGroupProjector,
  openHomeKeyring,
  openRetry,
  openSharedDatabase,
  type Retry,
} from '@stemma/home';
import { countFolding, openMetrics, serveStatus, type PartitionStatus } from '@stemma/metrics';
import { openHomeLog, readPartitionHealth } from '@stemma/operations';
import { openAssignment, openDatabase } from '@stemma/postgres';
import { MAIN_GROUP, signatureOf, type Projector } from '@stemma/projector';
import { foldAssigned } from './fold-assigned.ts';
import { loadGroup } from './load-group.ts';

export type ProjectorRun = {
  /** The path of a module whose default export is a read model of one's own. Default: all read models of Stemma. */
  readonly readModel?: string;
  /** `kafka://HOST:PORT/PREFIX`; without one, the embedded log of the home. */
  readonly log?: string;
  /** The home, where the embedded log is. */
  readonly directory: string;
  /** `postgres://…`: the database with the rows and contents. */
  readonly rows: string;
  /** The port of the status server (health and metrics) on the loopback address; 0: any free port. Default: no status server. */
  readonly statusPort?: number;
  /** Milliseconds without a statement after which other processes take this one's partitions. Default 2,000. */
  readonly silence?: number;
  readonly signal: AbortSignal;
  /** Receives sentences for people. */
  readonly say: (sentence: string) => void;
};

const SILENCE_MS = 2_000;

/**
 * Folds a log into the rows of all read models, or of one of a user's own, until the signal aborts. Processes that fold the same share the
 * log's partitions. When one ends, in whatever way, the others continue from its rows. It waits while brokers or the
 * database cannot be reached, and once it has begun also while the database refuses its user. It rebuilds rows that were
 * made of another log.
 *
 * @throws E_USAGE, E_HOME_NOT_FOUND, E_VERSION_NEEDED, E_BROKERS_REFUSED, E_DATABASE_REFUSED, E_DATABASE_UNTRUSTED,
 *   E_DATABASE_VERSION
 */
export const runProjector = async (run: ProjectorRun): Promise<void> => {
  const { signal, say } = run;
  const group = await loadGroup(run.readModel);
  let hasJoined = false;
  // Wrong settings end a projector that begins; of one that works the rights were taken, and are given back.
  const retry = openRetry(
    signal,
    say,
    (error) => error.code === 'E_LOG_NOT_FOUND' || (hasJoined && isAccessDenied(error)),
  );
  const metrics = openMetrics({ service: `projector ${group.name}`, version: VERSION });
  let readPartitions: () => Promise<readonly PartitionStatus[]> = async () => [];
  let ready = (): Promise<void> =>
    Promise.reject(fail('E_BUSY', 'the log and the database are not open yet'));
  const folded = countFolding({ metrics, readModel: group.name, partitionStatus: () => readPartitions() });
  await using closing = new AsyncDisposableStack();
  const { statusPort, silence = SILENCE_MS } = run;
  if (statusPort !== undefined) {
    const status = await serveStatus({ metrics, port: statusPort, ready: () => ready() });
    closing.defer(() => status.close());
    say(`status at ${status.url}`);
  }
  try {
    const shared = await retry.run(() => openSharedDatabase(run.rows, openHomeKeyring(run.directory)));
    closing.defer(() => shared.close());
    const place = { directory: run.directory, create: false, shared: true };
    const { log } = await retry.run(() =>
      openHomeLog(run.log === undefined ? place : { ...place, address: run.log }),
    );
    closing.defer(() => log.close());
    const projector = openGroupProjector(log, shared, group, folded);
    readPartitions = () => readPartitionHealth({ log, projection: projector });
    ready = async () => {
      await projector.checkpoint(0);
    };
    say(`projecting ${group === MAIN_GROUP ? 'all read models' : group.name} into ${shared.name}`);
    const database = openDatabase(run.rows);
    closing.defer(() => database.close());
    await foldAssigned({
      // Each version shares apart: it has rows of its own.
      open: () =>
        retry.run(async () => {
          const assignment = await openAssignment(database, {
            group: `${log.id} ${signatureOf(group.models, group.keepFrames)}`,
            partitions: log.partitions,
            silence,
          });
          hasJoined = true;
          return assignment;
        }),
      // Late looks of a process that works must not look like silence.
      pause: Math.min(1_000, silence / 6),
      signal,
      say,
      fold: (partitions, until) => followPartitions({ projector, retry, say }, partitions, until),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};

type FollowContext = {
  readonly projector: Projector;
  readonly retry: Retry;
  readonly say: (sentence: string) => void;
};

const followPartitions = async (
  { projector, retry, say }: FollowContext,
  partitions: readonly number[],
  until: AbortSignal,
): Promise<void> => {
  const going = (): boolean => !until.aborted;
  while (going()) {
    try {
      await retry.run(() => projector.follow(until, partitions));
    } catch (error) {
      if (!isStemmaError(error, 'E_CURSOR_LOST') || !going()) throw error;
      say(`${error.message}: the rows are rebuilt`);
      await retry.run(() => projector.rebuild());
    }
  }
};
