import { fail } from '@stemma/errors';
import { partitionOf, type EventLog } from '@stemma/log';
import {
  consistencyProof,
  inclusionProof,
  leafHash,
  provesConsistency,
  provesInclusion,
  type NoteKey,
  type SignedHead,
} from '@stemma/merkle';
import { z } from 'zod';
import { base64, parseOrigin, readCheckpoint } from './heads.ts';
import { readTree } from './read-tree.ts';
import { verifySince } from './verify-since.ts';

const count = z.int().nonnegative();
const hash = z.base64();

const InclusionProof = z.strictObject({
  proof: z.literal('inclusion'),
  history: z.string(),
  seq: count,
  /** SHA-256 of the frame, in hex: the data of the leaf. */
  frame: z.string().regex(/^[\da-f]{64}$/),
  partition: count,
  index: count,
  hashes: z.array(hash),
  /** The signed notes that have the root. */
  checkpoint: z.string(),
});

const ConsistencyProof = z.strictObject({
  proof: z.literal('consistency'),
  /** For each partition, that the tree of the older checkpoint is the beginning of the newer one's. */
  partitions: z.array(z.array(hash)),
  older: z.string(),
  newer: z.string(),
});

const LogProof = z.discriminatedUnion('proof', [InclusionProof, ConsistencyProof]);
export type LogProof = z.infer<typeof LogProof>;

/** Leaf hashes of a partition, as many as a checkpoint counts, which has been compared with the log. */
const leavesOf = async (log: EventLog, partition: number, { size }: SignedHead): Promise<Uint8Array[]> => {
  const leaves: Uint8Array[] = [];
  await readTree(log, partition, (tree, leaf) => {
    if (tree.size <= size) leaves.push(leaf);
  });
  return leaves;
};

/**
 * A proof that a frame is in the tree of a checkpoint.
 *
 * @throws E_NOT_FOUND if the log has no such frame, or only behind the checkpoint; as {@link verifySince}
 */
export const proveFrame = async (
  log: EventLog,
  history: string,
  seq: number,
  checkpoint: string,
): Promise<LogProof> => {
  const heads = readCheckpoint(checkpoint, null);
  await verifySince(log, heads);
  const partition = partitionOf(history, log.partitions);
  const head = heads[partition] as SignedHead;
  const leaves: Uint8Array[] = [];
  let found: { readonly index: number; readonly frame: string } | undefined;
  await readTree(log, partition, ({ size }, leaf, frame) => {
    if (size > head.size) return;
    leaves.push(leaf);
    if (frame.envelope.history === history && frame.envelope.seq === seq)
      found = { index: size - 1, frame: Buffer.from(frame.hash).toString('hex') };
  });
  if (found === undefined)
    throw fail('E_NOT_FOUND', `${history} has no frame ${seq} that the checkpoint counts`, { history, seq });
  const hashes = inclusionProof(leaves, found.index).map(base64);
  return { proof: 'inclusion', history, seq, ...found, partition, hashes, checkpoint };
};

/** A proof that the log of a checkpoint begins with that of an older one. @throws as {@link verifySince} */
export const proveGrowth = async (log: EventLog, older: string, newer: string): Promise<LogProof> => {
  const [before, after] = [readCheckpoint(older, null), readCheckpoint(newer, null)];
  for (const heads of [before, after]) await verifySince(log, heads);
  const partitions: string[][] = [];
  for (const [partition, head] of after.entries()) {
    const then = (before[partition] as SignedHead).size;
    if (then > head.size)
      throw fail('E_USAGE', `the first checkpoint counts ${then} frames, the second only ${head.size}`);
    partitions.push(consistencyProof(await leavesOf(log, partition, head), then).map(base64));
  }
  return { proof: 'consistency', partitions, older, newer };
};

/** @throws E_PROOF_INVALID */
export const parseProof = (text: string): LogProof => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('it is no JSON');
  }
  const parsed = LogProof.safeParse(value);
  if (!parsed.success) throw invalid('it has not the shape of a proof');
  return parsed.data;
};

/** What a proof shows, in a sentence, without the log. @throws E_PROOF_INVALID, E_CHECKPOINT_INVALID */
export const checkProof = (proof: LogProof, key: NoteKey | null): string => {
  if (proof.proof === 'inclusion') {
    const heads = readCheckpoint(proof.checkpoint, key);
    const { history, seq, frame, partition, index } = proof;
    const head = heads[partition];
    if (head === undefined || partitionOf(history, heads.length) !== partition)
      throw invalid('the history is not in that partition');
    const leaf = leafHash(Buffer.from(frame, 'hex'));
    if (!provesInclusion({ leaf, index, size: head.size, root: head.root }, proof.hashes.map(bytesOf)))
      throw invalid('its hashes do not lead to the root of the checkpoint');
    return `frame ${seq} of ${history} with the hash ${frame} is number ${index} of ${head.size} in ${head.origin}`;
  }
  const [older, newer] = [readCheckpoint(proof.older, key), readCheckpoint(proof.newer, key)];
  const { log } = parseOrigin(newer[0] as SignedHead);
  if (parseOrigin(older[0] as SignedHead).log !== log || older.length !== newer.length)
    throw invalid('its checkpoints are of two logs');
  if (proof.partitions.length !== newer.length) throw invalid('it has not one part for each partition');
  const grown = newer.map((head, partition) => {
    const before = older[partition] as SignedHead;
    if (!provesConsistency(before, head, (proof.partitions[partition] ?? []).map(bytesOf)))
      throw invalid(`its hashes do not lead from one root to the other in partition ${partition}`);
    return `${before.size} to ${head.size}`;
  });
  return `the log ${log} only grew: ${grown.join(', ')} frames`;
};

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'base64');

const invalid = (why: string): Error => fail('E_PROOF_INVALID', `the proof is not right: ${why}`);
