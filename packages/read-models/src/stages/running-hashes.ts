import { canonicalJson } from '@stemma/canonical';
import { streamIdOf } from '@stemma/stages';
import { createHash, type Hash } from 'node:crypto';
import type { HashedNode } from './hash-node.ts';
import { NODE_KINDS, shapeOf } from './stream-node.ts';

/*
 * The hashes of the stages of a stream that grows, in our own profile and with the default configuration: every message
 * is selected, nothing is ever dropped. Canonical JSON sorts keys, and in all lists that are hashed what grows stands in
 * front, so each is a hash up to the last item, and a snapshot hashes what stands behind (the ids, for SPEC and HEADER):
 *
 *   node_hash  ["<digest>",…]
 *   SPEC       {"schema_version":"0.1","selected":[<item>,…],"selection":{<counts and ids>}}
 *   HEADER     {"header_mode":"hash_only","messages":[<item>,…],"node_hash":…,<the rest and ids>}
 *
 * Hash objects of the platform live in memory and cannot be stored: they are computed again from the rows.
 */

/** The running hashes of a stream. Mutable: use {@link copyRunningHashes} where both states are still needed. */
export type RunningHashes = {
  /** Nodes of each kind, in the order of NODE_KINDS. */
  readonly kindCounts: number[];
  count: number;
  readonly digests: Hash;
  readonly spec: Hash;
  readonly header: Hash;
  /** The ids of all messages, as in a JSON list. */
  ids: string;
  /** The ids of the last message of the user and of the assistant; "" while there is none. */
  lastUser: string;
  lastAssistant: string;
};

/** A stream without nodes. */
export const emptyRunningHashes = (): RunningHashes => ({
  kindCounts: NODE_KINDS.map(() => 0),
  count: 0,
  digests: createHash('sha256').update('['),
  spec: createHash('sha256').update('{"schema_version":"0.1","selected":['),
  header: createHash('sha256').update('{"header_mode":"hash_only","messages":['),
  ids: '',
  lastUser: '',
  lastAssistant: '',
});

export const copyRunningHashes = (running: RunningHashes): RunningHashes => ({
  ...running,
  kindCounts: [...running.kindCounts],
  digests: running.digests.copy(),
  spec: running.spec.copy(),
  header: running.header.copy(),
});

/** Adds nodes to a stream. */
export const addNodes = (running: RunningHashes, nodes: readonly HashedNode[]): void => {
  const { kindCounts } = running;
  let [digests, spec, header] = ['', '', ''];
  for (const node of nodes) {
    digests += running.count === 0 ? `"${node.digest}"` : `,"${node.digest}"`;
    const kind = NODE_KINDS.indexOf(node.kind);
    kindCounts[kind] = (kindCounts[kind] as number) + 1;
    if (node.kind === 'message') {
      const id = streamIdOf(running.count, node.digest);
      const comma = kindCounts[0] === 1 ? '' : ',';
      spec += comma + specItem(id, node);
      header += comma + headerItem(id, node);
      running.ids += `${comma}"${id}"`;
      if (node.label === 'message:user') running.lastUser = id;
      else if (node.label === 'message:assistant') running.lastAssistant = id;
    }
    running.count++;
  }
  if (digests !== '') running.digests.update(digests);
  if (spec === '') return;
  running.spec.update(spec);
  running.header.update(header);
};

const SHAPES = [false, true].map((named) => JSON.stringify(shapeOf('message', named)));

const specItem = (id: string, { digest, payloadHash, name, turn }: HashedNode): string =>
  `{"digest":"${digest}","id":"${id}","kind":"message","payload_hash":"${payloadHash}","payload_shape":${SHAPES[name === null ? 0 : 1] ?? ''},"turn":${turn}}`;

const headerItem = (id: string, node: HashedNode): string =>
  `{"content_hash":"${node.contentHash ?? ''}","content_len":${node.contentLength ?? 'null'},"name":${canonicalJson(node.name)},"node_id":"${id}","payload_hash":"${node.payloadHash}","role":${canonicalJson(node.role)},"tool_call_count":null}`;
