import { sha256Hex } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { decodeEnvelope, partitionOf, type EventLog } from '@stemma/log';
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
/** 32 bytes in base64. */
const hash = z.string().regex(/^[A-Za-z\d+/]{43}=$/);

const place = {
  proof: z.literal('inclusion'),
  /** SHA-256 of the frame, in hex: the data of the leaf. */
  frame: z.string().regex(/^[\da-f]{64}$/),
  partition: count,
  index: count,
  hashes: z.array(hash),
  /** The signed notes that have the root. */
  checkpoint: z.string(),
};

const InclusionProof = z.strictObject({
  ...place,
  version: z.literal(2),
  /** The frame, whose envelope has history and number; null: the proof is not about them. */
  bytes: z.base64().nullable(),
});

/** The first version: nothing binds history and number to the hash. */
const FirstInclusionProof = z.strictObject({ ...place, history: z.string(), seq: count });

const ConsistencyProof = z.strictObject({
  proof: z.literal('consistency'),
  /** For each partition, that the tree of the older checkpoint is the beginning of the newer one's. */
  partitions: z.array(z.array(hash)),
  older: z.string(),
  newer: z.string(),
});

const LogProof = z.union([InclusionProof, FirstInclusionProof, ConsistencyProof]);
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
 * @param isShown the proof holds the frame, and so proves its history and number, too; else it holds hashes alone
 * @throws E_NOT_FOUND if the log has no such frame, or only behind the checkpoint; as {@link verifySince}
 */
export const proveFrame = async (
  log: EventLog,
  history: string,
  seq: number,
  checkpoint: string,
  isShown = false,
): Promise<LogProof> => {
  const heads = readCheckpoint(checkpoint, null);
  await verifySince(log, heads);
  const partition = partitionOf(history, log.partitions);
  const head = heads[partition] as SignedHead;
  const leaves: Uint8Array[] = [];
  let found: { readonly index: number; readonly frame: string; readonly bytes: string | null } | undefined;
  await readTree(log, partition, ({ size }, leaf, frame) => {
    if (size > head.size) return;
    leaves.push(leaf);
    if (frame.envelope.history === history && frame.envelope.seq === seq)
      found = {
        index: size - 1,
        frame: Buffer.from(frame.hash).toString('hex'),
        bytes: isShown ? base64(frame.bytes) : null,
      };
  });
  if (found === undefined)
    throw fail('E_NOT_FOUND', `${history} has no frame ${seq} that the checkpoint counts`, { history, seq });
  const hashes = inclusionProof(leaves, found.index).map(base64);
  return { proof: 'inclusion', version: 2, ...found, partition, hashes, checkpoint };
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

/**
 * What a proof shows, in a sentence that says nothing more, without the log.
 *
 * @param key null: no signature is looked at, and the sentence says so. @throws E_PROOF_INVALID, E_CHECKPOINT_INVALID
 */
export const checkProof = (proof: LogProof, key: NoteKey | null): string =>
  `${key === null ? 'if the checkpoint is genuine, which is not checked: ' : ''}${shownBy(proof, key)}`;

const shownBy = (proof: LogProof, key: NoteKey | null): string => {
  if (proof.proof === 'inclusion') {
    const heads = readCheckpoint(proof.checkpoint, key);
    const { frame, partition, index } = proof;
    const head = heads[partition];
    if (head === undefined) throw invalid('its checkpoint has no such partition');
    const leaf = leafHash(Buffer.from(frame, 'hex'));
    if (!provesInclusion({ leaf, index, size: head.size, root: head.root }, proof.hashes.map(bytesOf)))
      throw invalid('its hashes do not lead to the root of the checkpoint');
    const where = `with the hash ${frame} is number ${index} of ${head.size} in ${head.origin}`;
    if ('history' in proof)
      return `a frame ${where}; the file says that it is frame ${proof.seq} of ${proof.history}, and does not prove that: make the proof again with --show-frame`;
    if (proof.bytes === null)
      return `a frame ${where}; the proof does not show which frame of which history it is`;
    const { history, seq } = envelopeIn(bytesOf(proof.bytes), frame);
    return `frame ${seq} of ${history} ${where}`;
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

/** What the frame says that has this hash. @throws E_PROOF_INVALID */
const envelopeIn = (bytes: Uint8Array, hash: string): { readonly history: string; readonly seq: number } => {
  if (sha256Hex(bytes) !== hash) throw invalid('its frame has another hash');
  const read = decodeEnvelope(bytes);
  if (read === undefined) throw invalid('what it shows is no frame');
  return read.envelope;
};

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'base64');

const invalid = (why: string): Error => fail('E_PROOF_INVALID', `the proof is not right: ${why}`);
