import { historyId } from '@stemma/history';
import { partitionOf } from '@stemma/log';
import type { Projection } from '@stemma/projector';
import type { GenerationView } from '@stemma/row-store';

/** Resolves when the rows have what is in the log now of one history. @throws as {@link Projection} */
export const catchUpWith = (projection: Projection, history: string): Promise<void> =>
  projection.catchUp(partitionOf(history, projection.partitions));

/** What `fn` makes of rows that have what is in the log now of one history. @throws as {@link Projection} */
export const readOf = async <T>(
  projection: Projection,
  history: string,
  fn: (rows: GenerationView) => T,
): Promise<T> => {
  await catchUpWith(projection, history);
  return projection.read(fn);
};

/** Resolves when the rows have what is in the log now of all histories that an address can name. */
export const catchUpWithNamed = async (projection: Projection, name: string): Promise<void> => {
  const colon = name.lastIndexOf(':');
  const names = colon === -1 ? [name] : [name, name.slice(0, colon)];
  // The beginning of an id is in any partition.
  if (names.some((each) => /^h[a-z2-7]{3,19}$/.test(each))) return projection.catchUp();
  const partitions = new Set(
    names
      .flatMap((each) => [each, historyId(each, '')])
      .map((history) => partitionOf(history, projection.partitions)),
  );
  await Promise.all([...partitions].map((partition) => projection.catchUp(partition)));
};
