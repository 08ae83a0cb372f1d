import type { StagesAnswer, StreamEntry } from './types.ts';

/** A node of a stream as documents show it: never any text of a message or tool result. */
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

/** The stages of a position as `GET /sessions/{session}/ctrees` and `ctree_snapshot` show them (compiler-stages: http). */
export const stagesDocument = ({ snapshot, lastNode, compiler, collapse }: StagesAnswer) => ({
  snapshot,
  last_node: lastNode === null ? null : entryDocument(lastNode),
  compiler,
  collapse,
  hashes: compiler.hashes,
});
