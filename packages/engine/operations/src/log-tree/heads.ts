import { fail } from '@stemma/errors';
import type { EventLog } from '@stemma/log';
import {
  checkSignature,
  parseHeads,
  rootOf,
  signHead,
  type NoteKey,
  type SignedHead,
  type SigningKey,
  type TreeHead,
} from '@stemma/merkle';
import { readTree } from './read-tree.ts';

/** What the trees of a log are called: the log's id and the partition. */
const originOf = (log: string, partition: number): string => `stemma.log/${log}/${partition}`;

export type LogOrigin = { readonly log: string; readonly partition: number };

/** The log and the partition that a tree head is of. @throws E_CHECKPOINT_INVALID */
export const parseOrigin = ({ origin }: Pick<TreeHead, 'origin'>): LogOrigin => {
  const [, log = '', partition = ''] = /^stemma\.log\/(\S+)\/(0|[1-9]\d*)$/.exec(origin) ?? [];
  if (log === '') throw fail('E_CHECKPOINT_INVALID', 'the checkpoint is not one of a Stemma log', { origin });
  return { log, partition: Number(partition) };
};

/** The tree head of a partition. */
const headOf = async (
  log: EventLog,
  partition: number,
  count?: (offset: number) => void,
): Promise<TreeHead> => {
  const tree = await readTree(log, partition, undefined, count);
  return {
    origin: originOf(log.id, partition),
    size: tree.size,
    root: rootOf(tree),
    extensions: [`partitions ${log.partitions}`],
  };
};

export type LogCheckpoint = {
  /** Signed notes, one for each partition. */
  readonly text: string;
  readonly partitions: readonly {
    readonly partition: number;
    readonly size: number;
    readonly root: string;
  }[];
};

/** Signs the state of every partition. @throws E_PARTITION_CLOSED */
export const signLog = async (
  log: EventLog,
  key: SigningKey,
  count?: (offset: number) => void,
): Promise<LogCheckpoint> => {
  const heads: TreeHead[] = [];
  for (let partition = 0; partition < log.partitions; partition++)
    heads.push(await headOf(log, partition, count));
  return {
    text: heads.map((head) => signHead(head, key)).join(''),
    partitions: heads.map(({ size, root }, partition) => ({ partition, size, root: base64(root) })),
  };
};

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/**
 * The notes of a checkpoint, one for each partition of one log.
 *
 * @param key whose signature each must have; null to look at none. @throws E_CHECKPOINT_INVALID
 */
export const readCheckpoint = (text: string, key: NoteKey | null): readonly SignedHead[] => {
  const heads = parseHeads(text);
  const first = heads[0] as SignedHead;
  const { log } = parseOrigin(first);
  heads.forEach((head, i) => {
    const origin = parseOrigin(head);
    const whole = head.extensions[0] === `partitions ${heads.length}`;
    if (origin.log !== log || origin.partition !== i || !whole)
      throw fail('E_CHECKPOINT_INVALID', 'the checkpoint has not one note for each partition of one log');
    if (key !== null) checkSignature(head, key);
  });
  return heads;
};
