import type { StagesAnswer, StreamEntry } from './types.ts';

/** The JSON of a stream's node: it never has any text of a message or tool result. */
export const entryDocument = (entry: StreamEntry) => ({
  node_id: entry.id,
  ordinal: entry.ordinal,
  kind: entry.kind,
  turn: entry.turn,
  label: entry.label,
  digest: entry.digest,
  payload_hash: entry.payloadHash,
  payload_shape: entry.payloadShape,
  payload: entry.payload,
  frame: entry.seq,
});

/**
 * The JSON of a position's stages, for `GET /sessions/{session}/ctrees` and `ctree_snapshot` (compiler-stages: http).
 */
export const stagesDocument = ({ snapshot, lastNode, compiler, collapse }: StagesAnswer) => ({
  snapshot,
  last_node: lastNode === null ? null : entryDocument(lastNode),
  compiler,
  collapse,
  hashes: compiler.hashes,
});
