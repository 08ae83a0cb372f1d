import { compareCodePoints } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { checkCursor, type EventLog } from '@stemma/log';
import type { ReadModel } from '@stemma/read-models';
import type { Promotion, RowStore, Table } from '@stemma/row-store';
import { CORE_TABLES, CORE_VERSION, FRAME_BYTES, standingOf } from './core-tables.ts';

/** What a generation is made by: the read models with their versions. Another signature means other rows. */
export const signatureOf = (models: readonly ReadModel[], keepFrames: boolean): string =>
  [
    `core@${CORE_VERSION}${keepFrames ? '+frames' : ''}`,
    ...models.map(({ name, version }) => `${name}@${version}`).sort(compareCodePoints),
  ].join('+');

export const tablesOf = (models: readonly ReadModel[], keepFrames: boolean): readonly Table[] => [
  ...CORE_TABLES.filter((table) => keepFrames || table !== FRAME_BYTES),
  ...models.flatMap(({ tables }) => tables),
];

const numberOf = (name: string): number => Number(name.slice(name.lastIndexOf('#') + 1));
const isOf = (signature: string, name: string): boolean => name.startsWith(`${signature}#`);

/** The generation that readers of a group with these read models use: the promoted one, if it was made by the same. */
export const currentName = async (
  store: RowStore,
  group: string,
  signature: string,
): Promise<string | undefined> => {
  const current = await store.current(group);
  return current !== null && isOf(signature, current) ? current : undefined;
};

/** A name that no generation has had yet. */
export const nextName = async (
  store: RowStore,
  signature: string,
  current: string | null,
): Promise<string> => {
  const numbers = [...(await store.generations()), ...(current === null ? [] : [current])].map(numberOf);
  return `${signature}#${Math.max(0, ...numbers.filter(Number.isSafeInteger)) + 1}`;
};

/** Generations of a signature that nobody reads: rebuilds that were not finished, the newest first. */
export const unfinishedNames = async (
  store: RowStore,
  signature: string,
  current: string | null,
): Promise<readonly string[]> =>
  (await store.generations())
    .filter((name) => isOf(signature, name) && name !== current)
    .sort((a, b) => numberOf(b) - numberOf(a));

/**
 * Makes `next` the generation that is read, if it stands at least where the current one does in every partition
 * (architecture §5); false if it does not yet. Where the log no longer knows the place of the current one, any place is
 * further.
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
    if (offsetOf(mine) < offsetOf(cursor) && (await isKnown(log, cursor))) return false;
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

const offsetOf = (cursor: Uint8Array): number => standingOf(cursor).cursor.offset;

const isKnown = async (log: EventLog, cursor: Uint8Array): Promise<boolean> => {
  try {
    await checkCursor(log, standingOf(cursor).cursor);
    return true;
  } catch (error) {
    if (isStemmaError(error, 'E_CURSOR_LOST')) return false;
    throw error;
  }
};
