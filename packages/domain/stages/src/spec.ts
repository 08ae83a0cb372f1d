import type { NodeFacts, PayloadShape } from './describe-node.ts';
import type { ExactJson } from './exact-json.ts';
import { SCHEMA_VERSION } from './raw.ts';
import type { SelectionSummary, StageSelection } from './select.ts';

/** SPEC: which nodes are candidates, which were selected, and references to those. */
export type SpecStage = {
  readonly schema_version: string;
  readonly selection: SelectionSummary;
  readonly selected: readonly NodeReference[];
};

/** A node by its hashes. */
export type NodeReference = {
  readonly id: string;
  readonly digest: string;
  readonly kind: string;
  readonly turn: ExactJson;
  readonly payload_hash: string;
  readonly payload_shape: PayloadShape;
};

export const specStage = (nodes: readonly NodeFacts[], { indexes, summary }: StageSelection): SpecStage => ({
  schema_version: SCHEMA_VERSION,
  selection: summary,
  selected: indexes.map((index) => nodeReference(nodes[index] as NodeFacts)),
});

/** The SPEC entry of one selected node. */
const nodeReference = (node: NodeFacts): NodeReference => ({
  id: node.id,
  digest: node.digest,
  kind: node.kind,
  turn: node.turn,
  payload_hash: node.payloadHash,
  payload_shape: node.payloadShape,
});
