import { canonicalJson, sha256, sha256Hex, toHex } from '@stemma/canonical';
import type { Cell, Value } from '@stemma/row-store';
import { streamIdOf } from '@stemma/stages';
import type { HashedNode } from './hash-node.ts';
import {
  addPacked,
  endPacked,
  joinPacked,
  splitPacked,
  startPacked,
  type PackedHash,
} from './packed-hash.ts';
import { NODE_KINDS, shapeOf } from './stream-node.ts';

/*
 * The hashes of the stages of a stream that grows, in our own profile and with the default configuration: every message
 * is selected, nothing is ever dropped. Canonical JSON sorts keys, and in all lists that are hashed what grows stands in
 * front, so each is a state up to the last item, and a snapshot hashes what stands behind (the ids, for SPEC and HEADER):
 *
 *   node_hash  ["<digest>",…]
 *   SPEC       {"schema_version":"0.1","selected":[<item>,…],"selection":{<counts and ids>}}
 *   HEADER     {"header_mode":"hash_only","messages":[<item>,…],"node_hash":…,<the rest and ids>}
 *
 * The same as `addNodes` and `streamStageHashes` of the stages, on states as rows hold them and on texts put together
 * here: a projector does this for every frame. A test holds the two against each other.
 */

/** What a stream has come to. */
export type Running = {
  /** Nodes of each kind, in the order of NODE_KINDS. */
  readonly tally: readonly number[];
  readonly digests: PackedHash;
  readonly spec: PackedHash;
  readonly header: PackedHash;
  /** The ids of the messages that fill no row of `stage_ids` yet, as in a JSON list. */
  readonly openIds: string;
  /** The ids of the last message of the user and of the assistant; "" while there is none. */
  readonly lastUser: string;
  readonly lastAssistant: string;
};

/** Hashes of a snapshot's stages: SHA-256, 32 bytes each. */
export type StageHashes = {
  readonly nodeHash: Uint8Array;
  readonly z1: Uint8Array;
  readonly z2: Uint8Array;
  readonly z3: Uint8Array;
};

/** Ids in a row of `stage_ids`. */
const CHUNK = 64;

export const EMPTY: Running = {
  tally: NODE_KINDS.map(() => 0),
  digests: startPacked('['),
  spec: startPacked('{"schema_version":"0.1","selected":['),
  header: startPacked('{"header_mode":"hash_only","messages":['),
  openIds: '',
  lastUser: '',
  lastAssistant: '',
};

/** Nodes in the stream: the ordinal of the next. */
export const countOf = ({ tally }: Running): number => {
  let sum = 0;
  for (const each of tally) sum += each;
  return sum;
};

const messagesIn = ({ tally }: Running): number => tally[0] as number;

/** Rows of `stage_ids` that are full. */
export const chunksOf = (running: Running): number => Math.floor(messagesIn(running) / CHUNK);

/** So many nodes of a stream lie between two marks, or a frame. */
const MARK_EVERY = 64;

/** How many marks a stream has behind it. */
export const marksIn = (running: Running): number => Math.floor(countOf(running) / MARK_EVERY);

/** What a stream comes to with further nodes, and how many of them were taken: up to one that fills a chunk. */
export const takeNodes = (
  running: Running,
  nodes: readonly HashedNode[],
  from: number,
): { readonly running: Running; readonly next: number; readonly filled: string | null } => {
  const tally = [...running.tally];
  let [digests, spec, header] = ['', '', ''];
  let { openIds, lastUser, lastAssistant } = running;
  let ordinal = countOf(running);
  let at = from;
  let filled: string | null = null;
  while (at < nodes.length && filled === null) {
    const node = nodes[at++] as HashedNode;
    digests += ordinal === 0 ? `"${node.digest}"` : `,"${node.digest}"`;
    const kind = NODE_KINDS.indexOf(node.kind);
    tally[kind] = (tally[kind] as number) + 1;
    if (node.kind === 'message') {
      const id = streamIdOf(ordinal, node.digest);
      const comma = tally[0] === 1 ? '' : ',';
      spec += comma + specItem(id, node);
      header += comma + headerItem(id, node);
      openIds += openIds === '' ? `"${id}"` : `,"${id}"`;
      if (node.label === 'message:user') lastUser = id;
      else if (node.label === 'message:assistant') lastAssistant = id;
      if ((tally[0] as number) % CHUNK === 0) {
        filled = openIds;
        openIds = '';
      }
    }
    ordinal++;
  }
  return {
    running: {
      tally,
      digests: addPacked(running.digests, digests),
      spec: addPacked(running.spec, spec),
      header: addPacked(running.header, header),
      openIds,
      lastUser,
      lastAssistant,
    },
    next: at,
    filled,
  };
};

const SHAPES = [false, true].map((named) => JSON.stringify(shapeOf('message', named)));

const specItem = (id: string, { digest, payloadHash, name, turn }: HashedNode): string =>
  `{"digest":"${digest}","id":"${id}","kind":"message","payload_hash":"${payloadHash}","payload_shape":${SHAPES[name === null ? 0 : 1] ?? ''},"turn":${turn}}`;

const headerItem = (id: string, node: HashedNode): string =>
  `{"content_hash":"${node.contentHash ?? ''}","content_len":${node.contentLength ?? 'null'},"name":${canonicalJson(node.name)},"node_id":"${id}","payload_hash":"${node.payloadHash}","role":${canonicalJson(node.role)},"tool_call_count":null}`;

const BY_NAME = NODE_KINDS.map((kind, i) => ({ kind, i })).sort((a, b) => (a.kind < b.kind ? -1 : 1));

/** The hashes as they are now. `ids`: those of all messages, as in a JSON list. */
export const hashesOf = (running: Running, ids: string): StageHashes => {
  const nodeHash = endPacked(running.digests, ']');
  const hex = toHex(nodeHash);
  const count = countOf(running);
  let kinds = '';
  for (const { kind, i } of BY_NAME) {
    const some = running.tally[i] as number;
    if (some > 0) kinds += `${kinds === '' ? '' : ','}"${kind}":${some}`;
  }
  const raw = `{"event_count":${count},"kind_counts":{${kinds}},"node_count":${count},"node_hash":"${hex}","schema_version":"0.1"}`;
  const selection = selectionText(running, ids);
  const selectionHash = sha256Hex(`${selection}}`);
  return {
    nodeHash,
    z1: sha256(raw),
    z2: endPacked(running.spec, `],"selection":${selection},"selection_sha256":"${selectionHash}"}}`),
    z3: endPacked(
      running.header,
      `],"node_hash":"${hex}","policy":"messages_only","schema_version":"0.1","selected_node_ids":[${ids}],"selection_sha256":"${selectionHash}"}`,
    ),
  };
};

/** plain(selection), its hash and the last brace left out. */
const selectionText = (running: Running, ids: string): string => {
  const count = messagesIn(running);
  const { lastUser, lastAssistant } = running;
  // Ids begin with the ordinal; of two the longer has the greater one.
  const pins = [lastUser, lastAssistant]
    .filter((id) => id !== '')
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return (
    `{"candidate_count":${count},"candidate_ids":[${ids}],"collapsed_count":0,"collapsed_ids":[],` +
    `"dropped_count":0,"dropped_ids":[],"kept_count":${count},"kept_ids":[${ids}],"kind_allowlist":["message"],` +
    `"max_message_chars":null,"max_nodes":null,"max_turns":null,"pinned_count":${pins.length},` +
    `"pinned_ids":${JSON.stringify(pins)},"selected_count":${count},"selected_ids":[${ids}]`
  );
};

/** As it lies in rows. */
export const runningCells = ({
  tally,
  digests,
  spec,
  header,
  openIds,
  lastUser,
  lastAssistant,
}: Running): readonly Cell[] => [
  ...tally,
  joinPacked([digests, spec, header]),
  openIds,
  lastUser,
  lastAssistant,
];

/** The same, from the cells that begin at `from`. */
export const runningOf = (value: Value, from: number): Running => {
  const at = from + NODE_KINDS.length;
  const [digests, spec, header] = splitPacked(value[at] as Uint8Array) as [
    PackedHash,
    PackedHash,
    PackedHash,
  ];
  return {
    tally: value.slice(from, at) as readonly number[],
    digests,
    spec,
    header,
    openIds: value[at + 1] as string,
    lastUser: value[at + 2] as string,
    lastAssistant: value[at + 3] as string,
  };
};
