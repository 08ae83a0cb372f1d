import { stageHash, type StageHashes } from './compile.ts';
import type { NodeFacts } from './describe-node.ts';
import type { ExactJson } from './exact-json.ts';
import { addText, endHash, startHash, type HashState } from './hash-state.ts';
import { headerItem } from './header.ts';
import { printPlain, quote } from './print-exact.ts';
import { hashText, type Profile } from './profile.ts';
import { rawStage, SCHEMA_VERSION } from './raw.ts';
import { nodeReference } from './spec.ts';

/**
 * The state of a stream, as a plain value that a row can keep. The state and the next node give the next state, so that
 * the hashes of a commit cost only its new nodes; z2 and z3 also need the lists of ids. For the default configuration:
 * all messages, no limits, hashes only.
 */
export type StageStream = {
  readonly count: number;
  readonly lastId: string | null;
  readonly kinds: { readonly [kind: string]: number };
  /** The hash state of the digests so far. */
  readonly nodes: HashState;
  /** The hash state of SPEC, up to its references so far. */
  readonly spec: HashState;
  /** The hash state of HEADER, up to its messages so far. */
  readonly header: HashState;
  /** The number of messages: all are selected. */
  readonly selected: number;
  /** The last user and the last assistant message: ordinal and id. */
  readonly user: Pin | null;
  readonly assistant: Pin | null;
};

type Pin = readonly [ordinal: number, id: string];

/** A stream without nodes. */
export const startStream = ({ algorithm }: Profile): StageStream => ({
  count: 0,
  lastId: null,
  kinds: {},
  nodes: addText(startHash(algorithm), '['),
  spec: addText(startHash(algorithm), `{"schema_version":"${SCHEMA_VERSION}","selected":[`),
  header: addText(startHash(algorithm), '{"header_mode":"hash_only","messages":['),
  selected: 0,
  user: null,
  assistant: null,
});

/** The stream after one more node. Ids must not repeat: see {@link openEventLog} for logs in which they may. */
export const addNode = (stream: StageStream, node: NodeFacts): StageStream => addNodes(stream, [node]);

/** The stream after several more nodes, in order; their texts are hashed together. */
export const addNodes = (stream: StageStream, nodes: readonly NodeFacts[]): StageStream => {
  const kinds = new Map(Object.entries(stream.kinds));
  let { count, selected, lastId, user, assistant } = stream;
  let [digests, spec, header] = ['', '', ''];
  for (const node of nodes) {
    const { id, kind, digest, message } = node;
    digests += `${count === 0 ? '' : ','}"${digest}"`;
    if (kind === 'message') {
      const comma = selected === 0 ? '' : ',';
      spec += comma + printPlain(nodeReference(node));
      header += comma + printPlain(headerItem(node));
      const pin: Pin = [count, id];
      if (message?.speaker === 'user') user = pin;
      if (message?.speaker === 'assistant') assistant = pin;
      selected++;
    }
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    lastId = id;
    count++;
  }
  return {
    count,
    lastId,
    kinds: Object.fromEntries(kinds),
    nodes: addText(stream.nodes, digests),
    spec: addText(stream.spec, spec),
    header: addText(stream.header, header),
    selected,
    user,
    assistant,
  };
};

/** node_hash and z1, at a cost that does not grow with the stream. */
export const streamHashes = (
  profile: Profile,
  stream: StageStream,
  promptSummary: ExactJson = null,
): { readonly node_hash: string; readonly z1: string } => {
  const node_hash = endHash(addText(stream.nodes, ']'));
  const raw = rawStage(stream.count, node_hash, Object.entries(stream.kinds), promptSummary);
  return { node_hash, z1: stageHash(profile, raw) };
};

/**
 * All hashes of the stream in the default configuration, and that of its selection.
 *
 * @param messageIds the ids of all its messages in append order, as {@link idsText} joins them.
 */
export const streamStageHashes = (
  profile: Profile,
  stream: StageStream,
  messageIds: string,
  promptSummary: ExactJson = null,
): StageHashes & { readonly selection_sha256: string } => {
  const { node_hash, z1 } = streamHashes(profile, stream, promptSummary);
  const selection = selectionText(stream, messageIds);
  const selection_sha256 = hashText(profile, `${selection}}`);
  const spec = `],"selection":${selection},"selection_sha256":"${selection_sha256}"}}`;
  const header =
    `],"node_hash":"${node_hash}","policy":"messages_only","schema_version":"${SCHEMA_VERSION}",` +
    `"selected_node_ids":[${messageIds}],"selection_sha256":"${selection_sha256}"}`;
  return {
    node_hash,
    z1,
    z2: endHash(addText(stream.spec, spec)),
    z3: endHash(addText(stream.header, header)),
    selection_sha256,
  };
};

/** Ids as in a JSON list: join two such texts with a comma. */
export const idsText = (ids: readonly string[]): string => ids.map(quote).join(',');

/** plain(selection) without its hash and the last brace. */
const selectionText = ({ selected, user, assistant }: StageStream, messageIds: string): string => {
  const pins = [user, assistant].filter((pin) => pin !== null).sort(([a], [b]) => a - b);
  const ids = `[${messageIds}]`;
  return (
    `{"candidate_count":${selected},"candidate_ids":${ids},"collapsed_count":0,"collapsed_ids":[],` +
    `"dropped_count":0,"dropped_ids":[],"kept_count":${selected},"kept_ids":${ids},` +
    '"kind_allowlist":["message"],"max_message_chars":null,"max_nodes":null,"max_turns":null,' +
    `"pinned_count":${pins.length},"pinned_ids":[${idsText(pins.map(([, id]) => id))}],` +
    `"selected_count":${selected},"selected_ids":${ids}`
  );
};
