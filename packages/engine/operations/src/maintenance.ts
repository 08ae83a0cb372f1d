import type { WideJson } from '@stemma/canonical';
import { verifyContents } from '@stemma/contents';
import { isStemmaError } from '@stemma/errors';
import { DEFECTS, HISTORY_HEADS, readHistoryHead } from '@stemma/history-store';
import { verifyLog, type Erasure } from '@stemma/log';
import { decodeCheckpoint, verifyReplay, type RowDifference } from '@stemma/projector';
import { listHistories } from '@stemma/read-models';
import { destroyLmdbRowStore, openLmdbRowStore } from '@stemma/row-store-lmdb';
import { listRows } from '@stemma/row-store';
import { defined } from '@stemma/values';
import { join } from 'node:path';
import { diskUsage } from './disk-usage.ts';
import { makeScratchFolder } from './scratch-folders.ts';
import { isDamage, readDamage } from './read-damage.ts';
import type { Services } from './services.ts';
import type { ReplayOptions, ReplayReport, VerifyOptions, VerifyReport } from './upkeep-types.ts';
import { verifyCalls } from './verify-calls/verify-calls.ts';
import { verifyRows, type RowsToVerify } from './verify-rows.ts';

/** Sizes in bytes, counts, and the offset of each partition's rows. */
export const statsOf = async ({
  directory,
  usage,
  log,
  projection,
}: Services): Promise<Readonly<Record<string, WideJson>>> => {
  await projection.catchUp();
  const ends = await Promise.all(
    Array.from({ length: log.partitions }, (_, partition) => log.end(partition)),
  );
  const bytes = await usage();
  return projection.read((view) => {
    const histories = listHistories(view);
    const sum = (pick: (row: (typeof histories)[number]) => number): number =>
      histories.reduce((total, row) => total + pick(row), 0);
    return {
      log: log.id,
      histories: histories.length,
      snapshots: sum(({ snapshots }) => snapshots),
      frames: sum(({ frames }) => frames),
      events: sum(({ events }) => events),
      logBytes: diskUsage(join(directory, 'log')),
      rowBytes: bytes.rows,
      contentBytes: bytes.contents,
      partitions: ends.map((end, partition) => {
        const cursor = view.cursor(partition);
        const checkpoint = cursor === null ? null : decodeCheckpoint(cursor);
        return {
          end,
          rows: checkpoint?.cursor.offset ?? 0,
          accepted: checkpoint?.state.accepted ?? 0,
          stale: { ...checkpoint?.state.stale },
          damaged: checkpoint?.state.damage.length ?? 0,
        };
      }),
    };
  });
};

/**
 * Builds the rows again: beside the old ones, or (`verify`) in a scratch store beside the home, comparing every row.
 */
export const replayRows = async (
  { directory, beside = directory, projection, projectors }: Services,
  { verify, batches, stops = false, progress }: ReplayOptions,
): Promise<ReplayReport> => {
  const scratch = makeScratchFolder(beside);
  let replays = 0;
  const total = { events: 0, accepted: 0, stale: 0, rows: 0, differences: 0 };
  let [first, seconds]: [string | null, number] = [null, 0];
  try {
    for (const projector of projectors) {
      if (!verify) await projector.rebuild();
      const report = await verifyReplay(projector, {
        scratch: () => openLmdbRowStore({ directory: join(scratch, String(replays++)) }),
        ...defined({ batchSizes: batches }),
        ...(stops ? { random: Math.random } : {}),
        ...defined({ progress }),
      });
      for (const name of ['events', 'accepted', 'stale', 'rows', 'differences'] as const)
        total[name] += report[name];
      first ??= report.first === null ? null : describeRow(report.first);
      seconds += report.seconds;
    }
    const calls = verify ? await verifyCalls(projection, await historiesOf(projection, 'all'), 'all') : null;
    const [problem] = calls?.problems ?? [];
    return {
      ...total,
      differences: total.differences + (calls?.problems.length ?? 0),
      firstDifference: first ?? (problem === undefined ? null : `${problem.history}: ${problem.message}`),
      calls,
      seconds: Math.round(seconds * 1000) / 1000,
    };
  } finally {
    destroyLmdbRowStore(scratch);
  }
};

const describeRow = ({ table, key, seq }: RowDifference): string =>
  `${table} ${key.map(String).join(' ')}${seq === null ? '' : ` (frame ${seq})`}`;

type Problem = VerifyReport['problems'][number];

/** Checks every record, every stored content and the rows, and reports histories that the projector found defective. */
export const verifyHome = async (
  { keyring, log, contents, projection, projectors, repairs }: Services,
  { rows: which = 'sample', progress = () => undefined }: VerifyOptions = {},
): Promise<VerifyReport> => {
  const repairedBefore = repairs.length;
  const erased = new Map<string, Erasure>();
  const report = await verifyLog(log, {
    contents,
    erased: (history, erasure) => erased.set(history, erasure),
    progress: (_partition, offset, end) => progress(offset, end),
  });
  const problems: Problem[] = report.problems.map(({ kind, partition, offset, history, seq, message }) => ({
    kind,
    partition,
    offset,
    history,
    seq,
    message,
  }));
  problems.push(...(await lostEnds({ log, projection })));
  let stored = 0;
  for await (const { problem } of verifyContents(contents)) {
    stored += 1;
    if (problem === null) continue;
    const message = `${problem.ref.sha256}: ${problem.message}`;
    problems.push({ kind: 'content', partition: null, offset: null, history: null, seq: null, message });
  }
  const { sealed } = await readDamage({ projection });
  const isOpenNow = sealed.some((history) => !report.sealed.includes(history) && !erased.has(history));
  if (noteErasures(keyring, erased) || isOpenNow) await rebuildAll(projectors);
  else await rebuildIfDamageChanged({ log, projection, projectors }, problems);
  const rows = await verifyRows(projection, projectors, which, Math.random);
  for (const message of [...repairs.slice(repairedBefore), ...rows.damage])
    problems.push({ kind: 'rows', partition: null, offset: null, history: null, seq: null, message });
  const { problems: differing, ...calls } = await verifyCalls(
    projection,
    await historiesOf(projection, which),
    which,
  );
  for (const { history, seq, message } of differing)
    problems.push({ kind: 'call', partition: null, offset: null, history, seq, message });
  const stopped = new Set(problems.map(({ history }) => history));
  problems.push(...(await defectsOf(projection)).filter(({ history }) => !stopped.has(history)));
  const stale = Object.values(report.stale).reduce((sum, count) => sum + count, 0);
  return {
    ok: problems.length === 0,
    records: report.records,
    contents: stored,
    rows: rows.rows,
    stale,
    calls,
    problems,
    sealed: report.sealed,
  };
};

/** All histories, those of a sample in any order. */
const historiesOf = async (
  projection: Services['projection'],
  which: RowsToVerify,
): Promise<readonly string[]> => {
  const all = await projection.read((view) =>
    listRows(view, HISTORY_HEADS, {}).map(({ history }) => history),
  );
  if (which === 'all') return all;
  const start = Math.floor(Math.random() * all.length);
  return [...all.slice(start), ...all.slice(0, start)];
};

/**
 * Notes what the log says of erasures in another home: the rows of this one stop before it, as they never had the key.
 *
 * @returns whether one was not noted yet
 */
const noteErasures = (keyring: Services['keyring'], erasures: ReadonlyMap<string, Erasure>): boolean => {
  const unnoted = [...erasures].filter(([history]) => keyring.erasureOf(history) === undefined);
  for (const [history, erasure] of unnoted) keyring.destroy(history, erasure);
  return unnoted.length > 0;
};

const rebuildAll = async (projectors: Services['projectors']): Promise<void> => {
  for (const each of projectors) await each.rebuild();
};

/**
 * Rows may have been made of records that were good then. If they do not know of a damage that was found, they are
 * built anew, so that nothing after it is served and nothing is written after it; so are rows that stop at a record that was
 * restored.
 */
const rebuildIfDamageChanged = async (
  { log, projection, projectors }: Pick<Services, 'log' | 'projection' | 'projectors'>,
  problems: readonly Problem[],
): Promise<void> => {
  const known = async ({ kind, partition, offset, history }: Problem): Promise<boolean> => {
    if (kind === 'foreign' || partition === null || offset === null) return true;
    const damage = (await projection.checkpoint(partition))?.state.damage ?? [];
    if (damage.some((each) => each.offset === offset || (each.affectsWholePartition && each.offset < offset)))
      return true;
    return (
      history !== null &&
      ((await projection.read((view) => readHistoryHead(view, history)))?.state ?? 'open') !== 'open'
    );
  };
  for (const problem of problems) if (!(await known(problem))) return rebuildAll(projectors);
  if (await isDamageRestored(log, projection, problems)) return rebuildAll(projectors);
  try {
    await projection.catchUp();
  } catch (error) {
    if (!isStemmaError(error, 'E_CURSOR_LOST')) throw error;
    // The rows know of all that is damaged, but not of records that were damaged, or lost, after it.
    await rebuildAll(projectors);
  }
};

/** True if the rows stop at a record that somebody has since restored from a copy. */
const isDamageRestored = async (
  log: Services['log'],
  projection: Services['projection'],
  problems: readonly Problem[],
): Promise<boolean> => {
  for (let partition = 0; partition < log.partitions; partition++) {
    const found = new Set(
      problems.filter((each) => each.partition === partition).map(({ offset }) => offset),
    );
    const { damage = [] } = (await projection.checkpoint(partition))?.state ?? {};
    if (damage.some(({ offset }) => !found.has(offset))) return true;
  }
  return false;
};

/** Records at the end of the log that are lost although they were folded. Only the rows still show them. */
const lostEnds = async ({
  log,
  projection,
}: Pick<Services, 'log' | 'projection'>): Promise<readonly Problem[]> => {
  const problems: Problem[] = [];
  for (let partition = 0; partition < log.partitions; partition++) {
    const [end, rows] = [
      await log.end(partition),
      (await projection.checkpoint(partition))?.cursor.offset ?? 0,
    ];
    if (rows <= end) continue;
    const message = `partition ${partition} ends at ${end}, but rows were made of records up to ${rows}: the log lost its end`;
    problems.push({ kind: 'truncated', partition, offset: end, history: null, seq: null, message });
  }
  return problems;
};

/** Histories that the rows mark as defective: their bytes are intact, but a frame cannot be true. */
const defectsOf = (projection: Services['projection']): Promise<readonly Problem[]> =>
  projection.read((view) =>
    listRows(view, DEFECTS, {})
      .filter(({ code }) => isDamage(code))
      .map(({ history, seq, code, message }) => ({
        kind: 'defective',
        partition: null,
        offset: null,
        history,
        seq,
        message: `${code}: ${message}`,
      })),
  );
