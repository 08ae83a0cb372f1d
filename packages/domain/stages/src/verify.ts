import { fail } from '@stemma/errors';
import { createHash } from 'node:crypto';
import { isExactList, isExactObject, isInteger, member, type ExactJson } from './exact-json.ts';
import { printPlain } from './print-exact.ts';
import { hashText, type Profile } from './profile.ts';

/** The recorded summary of a stream, at best with its nodes, that a log is compared with. */
export type KnownSnapshot = {
  readonly nodeHash: string;
  readonly nodeCount: number | null;
  readonly nodes: readonly KnownNode[] | null;
};

export type KnownNode = { readonly id: string; readonly digest: string };

/**
 * How a log compares with a snapshot: `match`; `prefix`: the snapshot's nodes are the first `nodes` of a longer log;
 * `truncated`: all `nodes` of the log are the first of the snapshot's, which has more; `differs`, at a node if one is
 * known; `inconsistent`: the snapshot's own nodes do not have its hash or count.
 */
export type SnapshotVerdict =
  | { readonly verdict: 'match'; readonly nodes: number }
  | { readonly verdict: 'prefix'; readonly nodes: number; readonly beyond: number }
  | { readonly verdict: 'truncated'; readonly nodes: number; readonly missing: number }
  | { readonly verdict: 'differs'; readonly at: DigestDifference | null }
  | { readonly verdict: 'inconsistent'; readonly reason: string };

/** The first node that differs. */
export type DigestDifference = {
  readonly ordinal: number;
  readonly expected: KnownNode;
  readonly got: KnownNode;
};

/**
 * The snapshot in a JSON value: `{node_hash, node_count?, nodes?}`, or the compiler's output with node_hash among its
 * `hashes`; other keys are ignored. @throws E_INPUT_SHAPE
 */
export const readSnapshot = (value: ExactJson): KnownSnapshot => {
  if (!isExactObject(value)) throw shape('is no object');
  const hashes = member(value, 'hashes');
  const nodeHash = member(value, 'node_hash') ?? (isExactObject(hashes) ? member(hashes, 'node_hash') : null);
  const count = member(value, 'node_count');
  const nodes = member(value, 'nodes');
  if (typeof nodeHash !== 'string') throw shape('has no node_hash');
  if (count !== null && !(isInteger(count) && typeof count === 'number' && count >= 0))
    throw shape('has a node_count that is no number of nodes');
  if (nodes !== null && !isExactList(nodes)) throw shape('has nodes that are no list');
  return { nodeHash, nodeCount: count, nodes: nodes?.map(readNode) ?? null };
};

const readNode = (value: ExactJson, at: number): KnownNode => {
  const id = isExactObject(value) ? member(value, 'id') : null;
  const digest = isExactObject(value) ? member(value, 'digest') : null;
  if (typeof id !== 'string' || typeof digest !== 'string')
    throw shape(`has a node ${at} that is no {id, digest}`);
  return { id, digest };
};

const shape = (what: string): Error => fail('E_INPUT_SHAPE', `the snapshot ${what}`);

/** Compares a recomputed stream with its recorded summary (compiler-stages, verify). */
export const verifySnapshot = (
  profile: Profile,
  nodes: readonly KnownNode[],
  snapshot: KnownSnapshot,
): SnapshotVerdict => {
  const known = snapshot.nodes;
  if (known !== null) {
    const reason = inconsistency(profile, snapshot, known);
    const at = firstDifference(nodes, known);
    if (at !== null) return { verdict: 'differs', at };
    if (reason !== null) return { verdict: 'inconsistent', reason };
    if (known.length > nodes.length)
      return { verdict: 'truncated', nodes: nodes.length, missing: known.length - nodes.length };
    return matching(known.length, nodes.length);
  }
  const index = prefixHashes(profile, nodes).indexOf(snapshot.nodeHash);
  if (index === -1) return { verdict: 'differs', at: null };
  return snapshot.nodeCount !== null && snapshot.nodeCount !== index
    ? {
        verdict: 'inconsistent',
        reason: `its node_count is ${snapshot.nodeCount}, its hash that of ${index} nodes`,
      }
    : matching(index, nodes.length);
};

const matching = (known: number, all: number): SnapshotVerdict =>
  known === all ? { verdict: 'match', nodes: all } : { verdict: 'prefix', nodes: known, beyond: all - known };

/** node_hash of the first 0, 1, 2 … nodes. */
const prefixHashes = ({ algorithm }: Profile, nodes: readonly KnownNode[]): readonly string[] => {
  const open = createHash(algorithm).update('[');
  const closed = (): string => open.copy().update(']').digest('hex');
  const hashes = [closed()];
  nodes.forEach(({ digest }, index) => {
    open.update(`${index === 0 ? '' : ','}"${digest}"`);
    hashes.push(closed());
  });
  return hashes;
};

const firstDifference = (
  nodes: readonly KnownNode[],
  known: readonly KnownNode[],
): DigestDifference | null => {
  for (let ordinal = 0; ordinal < Math.min(nodes.length, known.length); ordinal++) {
    const got = nodes[ordinal] as KnownNode;
    const expected = known[ordinal] as KnownNode;
    if (got.id !== expected.id || got.digest !== expected.digest)
      return { ordinal, expected, got: { id: got.id, digest: got.digest } };
  }
  return null;
};

const inconsistency = (
  profile: Profile,
  { nodeHash, nodeCount }: KnownSnapshot,
  known: readonly KnownNode[],
): string | null => {
  if (nodeCount !== null && nodeCount !== known.length)
    return `its node_count is ${nodeCount}, and it lists ${known.length} nodes`;
  const own = hashText(profile, printPlain(known.map(({ digest }) => digest)));
  return own === nodeHash ? null : 'its node_hash is not that of the nodes it lists';
};
