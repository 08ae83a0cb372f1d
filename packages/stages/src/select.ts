import type { SelectionConfig } from './config.ts';
import type { NodeFacts } from './describe-node.ts';
import { turnDigits } from './node.ts';
import { plain } from './print-exact.ts';
import { hashText, type Profile } from './profile.ts';
import { countOf, type Whole } from './settings.ts';

/** What SPEC says of a selection: in this order, with its hash last. */
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

/** What was selected: places in the stream, in append order, and the summary. */
export type Selection = { readonly places: readonly number[]; readonly summary: SelectionSummary };

/** Chooses nodes of a stream by pins and limits (compiler-stages, Selection). */
export const select = (profile: Profile, nodes: readonly NodeFacts[], config: SelectionConfig): Selection => {
  const first = firstPlaces(nodes);
  const allowed = new Set(config.kindAllowlist);
  const candidates = placesOf(nodes, ({ kind }) => allowed.has(kind));
  const pins = allowed.has('message') ? pinnedIds(nodes, config) : new Set<string>();
  const limited = withinBudget(
    nodes,
    lastNodes(profile, lastTurns(profile, nodes, candidates, config.maxTurns), config.maxNodes),
    config.maxMessageChars,
    pins,
  );
  const places = inAppendOrder(nodes, first, withPins(nodes, limited, allowed, pins));
  const ids = places.map((place) => idAt(nodes, place));
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
  return { places, summary: { ...summary, selection_sha256: hashText(profile, plain(summary)) } };
};

/** Where each id stands first. Only the engine lets an id stand twice. */
export const firstPlaces = (nodes: readonly NodeFacts[]): ReadonlyMap<string, number> => {
  const first = new Map<string, number>();
  nodes.forEach(({ id }, place) => {
    if (!first.has(id)) first.set(id, place);
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

const placesOf = (nodes: readonly NodeFacts[], isWanted: (node: NodeFacts) => boolean): readonly number[] => {
  const places: number[] = [];
  nodes.forEach((node, place) => {
    if (isWanted(node)) places.push(place);
  });
  return places;
};

/** Nodes of the last `limit` turns in order of first appearance, and those whose turn is null. */
const lastTurns = (
  profile: Profile,
  nodes: readonly NodeFacts[],
  places: readonly number[],
  limit: Whole | null,
): readonly number[] => {
  if (limit === null || (profile.compat && limit === 0)) return places;
  const digits = places.map((place) => turnDigits(profile, nodeAt(nodes, place).turn));
  const seen = [...new Set(digits.filter((each) => each !== null))];
  if (seen.length === 0) return places;
  const kept = new Set(seen.slice(Math.max(0, seen.length - countOf(limit))));
  return places.filter((place, i) => {
    const turn = digits[i] ?? null;
    return turn === null ? nodeAt(nodes, place).turn === null : kept.has(turn);
  });
};

const lastNodes = (profile: Profile, places: readonly number[], limit: Whole | null): readonly number[] =>
  limit === null || (profile.compat && limit === 0)
    ? places
    : places.slice(Math.max(0, places.length - countOf(limit)));

/** From newest to oldest what the budget of characters has room for; the newest and the pins whatever they cost. */
const withinBudget = (
  nodes: readonly NodeFacts[],
  places: readonly number[],
  budget: Whole | null,
  pins: ReadonlySet<string>,
): readonly number[] => {
  if (budget === null) return places;
  const kept: number[] = [];
  let left = countOf(budget);
  for (const place of places.toReversed()) {
    const { id, message } = nodeAt(nodes, place);
    const cost = message?.contentLength ?? 0;
    if (!pins.has(id) && kept.length > 0 && cost > left) continue;
    left = Math.max(0, left - cost);
    kept.push(place);
  }
  return kept.reverse();
};

const withPins = (
  nodes: readonly NodeFacts[],
  places: readonly number[],
  allowed: ReadonlySet<string>,
  pins: ReadonlySet<string>,
): readonly number[] => {
  if (places.length === 0 || pins.size === 0) return places;
  const chosen = new Set(places.map((place) => idAt(nodes, place)));
  const back: number[] = [];
  nodes.forEach(({ id, kind }, place) => {
    if (!pins.has(id) || chosen.has(id) || !allowed.has(kind)) return;
    chosen.add(id);
    back.push(place);
  });
  return [...places, ...back];
};

/** Each id once, where it stands first in the stream, with the last of its chosen nodes. */
const inAppendOrder = (
  nodes: readonly NodeFacts[],
  first: ReadonlyMap<string, number>,
  places: readonly number[],
): readonly number[] => {
  const last = new Map(places.map((place) => [idAt(nodes, place), place]));
  return [...last].sort(([a], [b]) => (first.get(a) ?? 0) - (first.get(b) ?? 0)).map(([, place]) => place);
};

const distinctIds = (
  nodes: readonly NodeFacts[],
  places: readonly number[],
  first: ReadonlyMap<string, number>,
): readonly string[] =>
  [...new Set(places.map((place) => idAt(nodes, place)))].sort(
    (a, b) => (first.get(a) ?? 0) - (first.get(b) ?? 0),
  );

const nodeAt = (nodes: readonly NodeFacts[], place: number): NodeFacts => nodes[place] as NodeFacts;

const idAt = (nodes: readonly NodeFacts[], place: number): string => nodeAt(nodes, place).id;
