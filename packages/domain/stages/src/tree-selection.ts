import { sha256Hex } from '@stemma/canonical';
import { collapsePolicy } from './collapse.ts';
import type { CollapseConfig, StageName } from './config.ts';
import type { NodeFacts } from './describe-node.ts';
import { printPlain } from './print-exact.ts';
import { firstIndexes, latestSpeakers } from './select.ts';

/** The messages that a stage of the tree view keeps, drops and collapses, of those that the compiler selected. */
export type TreeSelection = {
  readonly stage: StageName;
  readonly candidate_count: number;
  readonly kept_count: number;
  readonly dropped_count: number;
  readonly collapsed_count: number;
  readonly pinned_count: number;
  readonly candidate_ids: readonly string[];
  readonly kept_ids: readonly string[];
  readonly dropped_ids: readonly string[];
  readonly collapsed_ids: readonly string[];
  readonly pinned_ids: readonly string[];
  readonly selection_sha256: string;
};

/** Applies the collapse policy to the selected messages; the last user and assistant message always stay. */
export const treeSelection = (
  nodes: readonly NodeFacts[],
  selectedIds: readonly string[],
  stage: StageName,
  collapse: CollapseConfig,
): TreeSelection => {
  const first = firstIndexes(nodes);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const candidates = selectedIds
    .map((id) => byId.get(id))
    .filter((node) => node?.kind === 'message') as readonly NodeFacts[];
  const policy = collapsePolicy(candidates, { ...collapse, kinds: null }).stages.find(
    (each) => each.stage === stage,
  );
  const pins = new Set(latestSpeakers(nodes));
  const inOrder = (ids: readonly string[]): readonly string[] =>
    ids.toSorted((a, b) => (first.get(a) ?? 0) - (first.get(b) ?? 0));
  const candidateIds = candidates.map(({ id }) => id);
  const dropped = (policy?.drop ?? []).filter((id) => !pins.has(id));
  const gone = new Set(dropped);
  const kept = inOrder([...new Set([...candidateIds.filter((id) => !gone.has(id)), ...pins])]);
  const folded = new Set((policy?.collapse ?? []).filter((id) => !pins.has(id)));
  const collapsed = kept.filter((id) => folded.has(id));
  const selection = {
    stage,
    candidate_count: candidateIds.length,
    kept_count: kept.length,
    dropped_count: dropped.length,
    collapsed_count: collapsed.length,
    pinned_count: pins.size,
    candidate_ids: candidateIds,
    kept_ids: kept,
    dropped_ids: dropped,
    collapsed_ids: collapsed,
    pinned_ids: inOrder([...pins]),
  };
  return { ...selection, selection_sha256: sha256Hex(printPlain(selection)) };
};
