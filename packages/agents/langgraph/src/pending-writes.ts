import {
  compareCodePoints,
  listOf,
  objectOf,
  textOf,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import type { TypedText } from './typed-text.ts';

/** What a task wrote to a channel, as it is stored. */
export type StoredWrite = {
  readonly task: string;
  readonly path: string;
  readonly index: number;
  readonly channel: string;
  readonly value: TypedText;
};

/** The node of a checkpoint's writes. Each time that a task writes, its content is replaced; its life is the list of all writes. */
export const writesNode = (name: string): string => `writes:${name}`;

export const contentOfWrites = (writes: readonly StoredWrite[]): WideJsonObject => ({
  task_id: writes[0]?.task ?? '',
  task_path: writes[0]?.path ?? '',
  writes: writes.map(({ index, channel, value: { type, text } }) => ({ index, channel, type, value: text })),
});

const readContent = (content: WideJson): readonly StoredWrite[] => {
  const { task_id: task, task_path: path, writes } = objectOf(content);
  return listOf(writes).map((write) => {
    const { index, channel, type, value } = objectOf(write);
    return {
      ...{ task: textOf(task) ?? '', path: textOf(path) ?? '' },
      ...{ index: Number(index), channel: textOf(channel) ?? '' },
      value: { type: textOf(type) ?? '', text: textOf(value) ?? '' },
    };
  });
};

/** What an event of the node of writes brought. */
export const writesOfEvent = (event: { readonly [field: string]: unknown }): readonly StoredWrite[] => {
  const { type, node, payload } = event as { readonly [field: string]: WideJson };
  if (type === 'NodeInserted') return readContent(objectOf(node)['content'] ?? null);
  return type === 'NodeReplaced' ? readContent(objectOf(payload)['content'] ?? null) : [];
};

/**
 * Adds writes to those of a checkpoint. What a task wrote stays when it writes the same once more, as it does when it runs again; of
 * an error, an interrupt or what it was resumed with, the last one counts.
 */
export const addWrites = (known: Map<string, StoredWrite>, writes: readonly StoredWrite[]): void => {
  for (const write of writes) {
    const key = `${write.index} ${write.task}`;
    if (write.index < 0 || !known.has(key)) known.set(key, write);
  }
};

/** In the order in which a graph applies them: by the path of the task, the task, and their index. */
export const inOrder = (writes: Iterable<StoredWrite>): readonly StoredWrite[] =>
  [...writes].sort(
    (a, b) => compareCodePoints(a.path, b.path) || compareCodePoints(a.task, b.task) || a.index - b.index,
  );
