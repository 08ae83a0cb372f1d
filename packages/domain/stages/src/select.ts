import type { SelectionConfig } from './config.ts';
import type { NodeFacts } from './describe-node.ts';
import { turnDigits } from './node.ts';
import { printPlain } from './print-exact.ts';
import { hashText, type Profile } from './profile.ts';
import { countOf, type Whole } from './settings.ts';

/** The selection in SPEC: fields in this order, its hash last. */
export type SelectionSummary = {
  readonly kind_allowlist: readonly string[];
  readonly candidate_ids: readonly string[];
  readonly candidate_count: number;
  readonly selected_ids: readonly string[];
  readonly selected_count: number;
  readonly kept_ids: readonly string[];
  readonly kept_count: number;
  readonly dropped_ids: readonly string[];
  readonly dropped_count: number;
  readonly collapsed_ids: readonly string[];
  readonly collapsed_count: number;
  readonly pinned_count: number;
  readonly max_nodes: Whole | null;
  readonly max_turns: Whole | null;
  readonly max_message_chars: Whole | null;
  readonly pinned_ids: readonly string[];
  readonly selection_sha256: string;
};

/** The selected indexes of the stream, in append order, and the summary. */
export type StageSelection = { readonly indexes: readonly number[]; readonly summary: SelectionSummary };

/** Chooses nodes of a stream by pins and limits (compiler-stages, Selection). */
export const selectNodes = (
  profile: Profile,
  nodes: readonly NodeFacts[],
  config: SelectionConfig,
): StageSelection => {
  const first = firstIndexes(nodes);
  const allowed = new Set(config.kindAllowlist);
  const candidates = indexesOf(nodes, ({ kind }) => allowed.has(kind));
  const pins = allowed.has('message') ? pinnedIds(nodes, config) : new Set<string>();
  const limited = withinBudget(
    nodes,
    lastNodes(profile, lastTurns(profile, nodes, candidates, config.maxTurns), config.maxNodes),
    config.maxMessageChars,
    pins,
  );
  const indexes = inAppendOrder(nodes, first, withPins(nodes, limited, allowed, pins));
  const ids = indexes.map((index) => idAt(nodes, index));
  const candidateIds = distinctIds(nodes, candidates, first);
  const chosen = new Set(ids);
  const dropped = candidateIds.filter((id) => !chosen.has(id));
  const pinnedInOrder = [...pins].sort((a, b) => (first.get(a) ?? 0) - (first.get(b) ?? 0));
  const summary = {
    kind_allowlist: config.kindAllowlist,
    candidate_ids: candidateIds,
    candidate_count: candidateIds.length,
    selected_ids: ids,
    selected_count: ids.length,
    kept_ids: ids,
    kept_count: ids.length,
    dropped_ids: dropped,
    dropped_count: dropped.length,
    collapsed_ids: [],
    collapsed_count: 0,
    pinned_count: pinnedInOrder.length,
    max_nodes: config.maxNodes,
    max_turns: config.maxTurns,
    max_message_chars: config.maxMessageChars,
    pinned_ids: pinnedInOrder,
  };
  return { indexes, summary: { ...summary, selection_sha256: hashText(profile, printPlain(summary)) } };
};

/** The first index of each id. Only in the engine's profile can an id occur twice. */
export const firstIndexes = (nodes: readonly NodeFacts[]): ReadonlyMap<string, number> => {
  const first = new Map<string, number>();
  nodes.forEach(({ id }, index) => {
    if (!first.has(id)) first.set(id, index);
  });
  return first;
};

/** The ids of the last user and the last assistant message. */
export const latestSpeakers = (nodes: readonly NodeFacts[]): readonly string[] =>
  (['user', 'assistant'] as const).flatMap((speaker) => {
    const last = nodes.findLast(({ message }) => message?.speaker === speaker);
    return last === undefined ? [] : [last.id];
  });

const pinnedIds = (nodes: readonly NodeFacts[], config: SelectionConfig): ReadonlySet<string> => {
  const pins = new Set(config.pinLatestUserAssistant ? latestSpeakers(nodes) : []);
  const system = config.pinFirstSystem
    ? nodes.find(({ message }) => message?.speaker === 'system')
    : undefined;
  if (system !== undefined) pins.add(system.id);
  return pins;
};

const indexesOf = (
  nodes: readonly NodeFacts[],
  isWanted: (node: NodeFacts) => boolean,
): readonly number[] => {
  const indexes: number[] = [];
  nodes.forEach((node, index) => {
    if (isWanted(node)) indexes.push(index);
  });
  return indexes;
};

/** Nodes of the last `limit` turns in order of first appearance, and nodes whose turn is null. */
const lastTurns = (
  profile: Profile,
  nodes: readonly NodeFacts[],
  indexes: readonly number[],
  limit: Whole | null,
): readonly number[] => {
  if (limit === null || (profile.compat && limit === 0)) return indexes;
  const digits = indexes.map((index) => turnDigits(profile, nodeAt(nodes, index).turn));
  const seen = [...new Set(digits.filter((each) => each !== null))];
  if (seen.length === 0) return indexes;
  const kept = new Set(seen.slice(Math.max(0, seen.length - countOf(limit))));
  return indexes.filter((index, i) => {
    const turn = digits[i] ?? null;
    return turn === null ? nodeAt(nodes, index).turn === null : kept.has(turn);
  });
};

const lastNodes = (profile: Profile, indexes: readonly number[], limit: Whole | null): readonly number[] =>
  limit === null || (profile.compat && limit === 0)
    ? indexes
    : indexes.slice(Math.max(0, indexes.length - countOf(limit)));

/** From newest to oldest the nodes that fit the budget of characters; the newest and the pins in any case. */
const withinBudget = (
  nodes: readonly NodeFacts[],
  indexes: readonly number[],
  budget: Whole | null,
  pins: ReadonlySet<string>,
): readonly number[] => {
  if (budget === null) return indexes;
  const kept: number[] = [];
  let left = countOf(budget);
  for (const index of indexes.toReversed()) {
    const { id, message } = nodeAt(nodes, index);
    const cost = message?.contentLength ?? 0;
    if (!pins.has(id) && kept.length > 0 && cost > left) continue;
    left = Math.max(0, left - cost);
    kept.push(index);
  }
  return kept.reverse();
};

const withPins = (
  nodes: readonly NodeFacts[],
  indexes: readonly number[],
  allowed: ReadonlySet<string>,
  pins: ReadonlySet<string>,
): readonly number[] => {
  if (indexes.length === 0 || pins.size === 0) return indexes;
  const chosen = new Set(indexes.map((index) => idAt(nodes, index)));
  const back: number[] = [];
  nodes.forEach(({ id, kind }, index) => {
    if (!pins.has(id) || chosen.has(id) || !allowed.has(kind)) return;
    chosen.add(id);
    back.push(index);
  });
  return [...indexes, ...back];
};

/** Each id once, at its first index in the stream, with the last of its chosen nodes. */
const inAppendOrder = (
  nodes: readonly NodeFacts[],
  first: ReadonlyMap<string, number>,
  indexes: readonly number[],
): readonly number[] => {
  const last = new Map(indexes.map((index) => [idAt(nodes, index), index]));
  return [...last].sort(([a], [b]) => (first.get(a) ?? 0) - (first.get(b) ?? 0)).map(([, index]) => index);
};

const distinctIds = (
  nodes: readonly NodeFacts[],
  indexes: readonly number[],
  first: ReadonlyMap<string, number>,
): readonly string[] =>
  [...new Set(indexes.map((index) => idAt(nodes, index)))].sort(
    (a, b) => (first.get(a) ?? 0) - (first.get(b) ?? 0),
  );

const nodeAt = (nodes: readonly NodeFacts[], index: number): NodeFacts => nodes[index] as NodeFacts;

const idAt = (nodes: readonly NodeFacts[], index: number): string => nodeAt(nodes, index).id;
