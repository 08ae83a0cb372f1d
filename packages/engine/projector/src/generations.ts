import { compareCodePoints } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { FRAME_BYTES, HISTORY_STORE, RECORD_TABLES } from '@stemma/history-store';
import { checkCursor, type EventLog } from '@stemma/log';
import type { ReadModel } from '@stemma/read-models';
import type { Promotion, RowStore, Table } from '@stemma/row-store';
import { decodeCheckpoint, isClosed } from './checkpoint.ts';
import { BUCKET_COUNTS, ROW_COUNTS } from './counts/index.ts';
import { ON_DEMAND } from './on-demand/index.ts';

/** The read models of a generation with their versions. Another signature means other rows. */
export const signatureOf = (models: readonly ReadModel[], keepFrames: boolean, onDemand = false): string =>
  [
    `${HISTORY_STORE.name}@${HISTORY_STORE.version}+counts@2${keepFrames ? '+frames' : ''}${onDemand ? '+on-demand' : ''}`,
    ...models.map(({ name, version }) => `${name}@${version}`).sort(compareCodePoints),
  ].join('+');

export const tablesOf = (
  models: readonly ReadModel[],
  keepFrames: boolean,
  onDemand = false,
): readonly Table[] => [
  ...RECORD_TABLES.filter((table) => keepFrames || table !== FRAME_BYTES),
  ...(onDemand ? [ON_DEMAND] : []),
  ROW_COUNTS,
  BUCKET_COUNTS,
  ...HISTORY_STORE.tables,
  ...models.flatMap(({ tables }) => tables),
];

const numberOf = (name: string): number => Number(name.slice(name.lastIndexOf('#') + 1));
const isOf = (signature: string, name: string): boolean => name.startsWith(`${signature}#`);

/** The name of the promoted generation of a group, if it has this signature. */
export const currentName = async (
  store: RowStore,
  group: string,
  signature: string,
): Promise<string | undefined> => {
  const current = await store.current(group);
  return current !== null && isOf(signature, current) ? current : undefined;
};

/** A name that none of these generations has, and none before them had. */
export const nextName = (names: readonly string[], signature: string, current: string | null): string => {
  const numbers = [...names, ...(current === null ? [] : [current])].map(numberOf);
  return `${signature}#${Math.max(0, ...numbers.filter(Number.isSafeInteger)) + 1}`;
};

/** Those of a signature's generations that nobody reads: unfinished rebuilds, the newest first. */
export const unfinishedNames = (
  names: readonly string[],
  signature: string,
  current: string | null,
): readonly string[] =>
  names.filter((name) => isOf(signature, name) && name !== current).sort((a, b) => numberOf(b) - numberOf(a));

/**
 * The promoted generation of a group, if it has this signature; else the newest of those that are being built; else the
 * next one.
 *
 * Each question is asked once, what is promoted first. Who asks again between two others may hear that what was being
 * built is promoted now, so find nothing that is being built, and begin a generation without rows beside it.
 */
export const findName = async (
  store: RowStore,
  group: string,
  signature: string,
): Promise<{ readonly name: string; readonly isCurrent: boolean }> => {
  const current = await store.current(group);
  if (current !== null && isOf(signature, current)) return { name: current, isCurrent: true };
  const names = await store.generations();
  const [unfinished] = unfinishedNames(names, signature, current);
  return { name: unfinished ?? nextName(names, signature, current), isCurrent: false };
};

/** True if `a` has a later version than `b` of some read model, and an earlier version of none. */
export const isLater = (a: string, b: string): boolean => {
  const [mine, theirs] = [versionsIn(a), versionsIn(b)];
  const changes = [...mine].map(([name, version]) => version - (theirs.get(name) ?? version));
  return changes.some((change) => change > 0) && changes.every((change) => change >= 0);
};

const versionsIn = (name: string): ReadonlyMap<string, number> =>
  new Map(
    name
      .slice(0, name.lastIndexOf('#'))
      .split('+')
      .flatMap((part) => {
        const [model = '', version] = part.split('@');
        return version === undefined ? [] : [[model, Number(version)] as const];
      }),
  );

/** Drops a generation that is being built; one that another process has promoted meanwhile stays. */
export const dropUnlessCurrent = async (store: RowStore, name: string): Promise<void> => {
  try {
    await store.drop(name);
  } catch (error) {
    if (!isStemmaError(error, 'E_ROWS_VERSION')) throw error;
  }
};

/**
 * Drops the generations that `current` has replaced: earlier ones of the same read models. They remain if a process was
 * killed between promoting and dropping.
 */
export const dropReplaced = async (store: RowStore, current: string): Promise<void> => {
  const signature = current.slice(0, current.lastIndexOf('#'));
  for (const name of unfinishedNames(await store.generations(), signature, current))
    if (numberOf(name) < numberOf(current)) await store.drop(name);
};

/**
 * Makes `next` the current generation, if it is at least as far as the current one in every partition (decision 0004);
 * returns false if it is not yet. If the log no longer has the offset of the current one, any offset is further. A
 * partition that damage closes has arrived: nothing after it can be read, whatever the current generation still holds.
 */
export const promote = async (
  store: RowStore,
  group: string,
  next: string,
  log: EventLog,
): Promise<boolean> => {
  const from = await store.current(group);
  if (from === next) return true;
  const unmoved: Promotion['unmoved'][number][] = [];
  const reached = await store.cursors(next);
  for (const [partition, cursor] of from === null ? [] : await store.cursors(from)) {
    const mine = reached.get(partition);
    if (mine === undefined) return false;
    const arrived = isClosed(decodeCheckpoint(mine)) || offsetOf(mine) >= offsetOf(cursor);
    if (!arrived && (await isKnown(log, cursor))) return false;
    unmoved.push({ generation: from ?? '', partition, cursor });
  }
  try {
    await store.promote({ group, from, to: next, unmoved });
    return true;
  } catch (error) {
    if (isStemmaError(error, 'E_CURSOR_MOVED')) return false;
    throw error;
  }
};

export const offsetOf = (cursor: Uint8Array): number => decodeCheckpoint(cursor).cursor.offset;

const isKnown = async (log: EventLog, cursor: Uint8Array): Promise<boolean> => {
  try {
    await checkCursor(log, decodeCheckpoint(cursor).cursor);
    return true;
  } catch (error) {
    if (isStemmaError(error, 'E_CURSOR_LOST')) return false;
    throw error;
  }
};
