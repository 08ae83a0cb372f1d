import { canonicalJson, sha256Hex, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { NaiveHistory } from '@stemma/test-kit';

type HistoryEvent = NaiveHistory['frames'][number]['body']['events'][number];

/** A node of the stream as the table of compiler-stages says it, told by the events of an ancestor path alone. */
export type NaiveNode = {
  readonly kind: string;
  readonly turn: number;
  readonly payload: WideJsonObject;
  readonly seq: number;
};

/** The frames of a position's ancestor path, oldest first, by the definition of branches alone. */
const framesTo = (
  history: NaiveHistory,
  branchId: number,
  seq: number,
): { seq: number; events: readonly HistoryEvent[] }[] => {
  const { parent, at } = history.branches.get(branchId)!;
  const before = parent === null ? [] : framesTo(history, parent, Math.min(seq, at));
  const own = history.frames.filter(
    ({ envelope, body }) => body.branchId === branchId && envelope.seq <= seq,
  );
  return [...before, ...own.map(({ envelope, body }) => ({ seq: envelope.seq, events: body.events }))];
};

type Known = { parent: string; ordinal: number | null; role: string | null; kind: string | null };

/** The whole stream of a position, recomputed from nothing. */
export const naiveStream = (history: NaiveHistory, branchId: number, seq: number): NaiveNode[] => {
  const nodes: NaiveNode[] = [];
  const known = new Map<string, Known>();
  let cycle = 0;
  let head = '';
  const ordinals = (ids: readonly string[]): number[] =>
    ids.flatMap((id) => known.get(id)?.ordinal ?? []).sort((a, b) => a - b);
  const under = (id: string): string[] => [
    id,
    ...[...known].filter(([, { parent }]) => parent === id).flatMap(([child]) => under(child)),
  ];
  for (const frame of framesTo(history, branchId, seq)) {
    const add = (kind: string, turn: number, payload: WideJsonObject): number =>
      nodes.push({ kind, turn, payload, seq: frame.seq }) - 1;
    const lifecycle = (type: string, ids: readonly number[]): void => {
      if (ids.length > 0 || type === 'committed')
        add('lifecycle', cycle + 1, { type, payload: { nodes: [...ids], cycle: cycle + 1 } });
    };
    const enter = (
      id: string,
      node: { readonly [name: string]: unknown },
      { parent, role, kind }: Omit<Known, 'ordinal'>,
      turn: number,
    ): void => {
      const content = (node['content'] ?? null) as WideJson;
      const ordinal = add('message', turn, { role, content });
      known.set(id, { parent, ordinal, role, kind });
    };
    const groups: Record<string, string[]> = { expired: [], cascaded: [], pruned: [], sealed: [] };
    for (const event of frame.events)
      switch (event.type) {
        case 'HistoryStarted':
          head = event.ids.ah;
          cycle = event.cycle;
          break;
        case 'BranchStarted':
          add('lifecycle', cycle + 1, {
            type: event.how === 'fork' ? 'forked' : 'rolled_back',
            payload: { cycle },
          });
          break;
        case 'NodeInserted': {
          const { id, nodeType, role = null, kind = null } = event.node;
          const about = { parent: event.parent, role, kind };
          if (nodeType === 'cb') enter(id, event.node, about, cycle + 1);
          else known.set(id, { ...about, ordinal: null });
          break;
        }
        case 'NodeReplaced': {
          const before = known.get(event.id)!;
          if (before.ordinal === null) break;
          lifecycle('replaced', [before.ordinal]);
          enter(event.id, event.payload, before, cycle + 1);
          break;
        }
        case 'NodeMoved':
          known.get(event.id)!.parent = event.parent;
          lifecycle('moved', ordinals(under(event.id)));
          break;
        case 'NodeRemoved':
          lifecycle('removed', ordinals([event.id, ...event.subtree]));
          for (const id of [event.id, ...event.subtree]) known.delete(id);
          break;
        case 'NodeExpired':
        case 'NodeCascaded':
        case 'NodePruned':
          groups[
            { NodeExpired: 'expired', NodeCascaded: 'cascaded', NodePruned: 'pruned' }[event.type]
          ]!.push(...ordinals([event.id]).map(String));
          known.delete(event.id);
          break;
        case 'TurnSealed':
          groups['sealed']!.push(...ordinals(under(head)).map(String));
          for (const each of known.values()) if (each.parent === head) each.parent = event.turn.id;
          break;
        case 'SnapshotCommitted':
          for (const [type, list] of Object.entries(groups))
            lifecycle(
              type,
              list.map(Number).sort((a, b) => a - b),
            );
          lifecycle('committed', []);
          cycle = event.cycle;
          break;
        case 'NodeImported':
        case 'NodeHeld':
        case 'SnapshotImported':
        case 'PolicyConfigured':
        case 'PriorityChanged':
        case 'PositionNamed':
        case 'PositionAnnotated':
        case 'HistoryLabelled':
        case 'InterventionRecorded':
        case 'ConfigurationChanged':
        case 'ObservationRecorded':
        case 'CallStarted':
        case 'CallFinished':
        case 'CallHeld':
        case 'CallReleased':
        case 'RunRequested':
        case 'RunTaken':
        case 'RunEnded':
        case 'RunRecorded':
        case 'RerunEnded':
        case 'EffectRecorded':
        case 'ImportRecorded':
        case 'ImportLinked':
        case 'ProviderCallRecorded':
        case 'VectorsRecorded':
        case 'CallSteered':
        case 'CallReassigned':
        case 'ConversationLinked':
        case 'ContentRedacted':
        case 'HistoryErased':
          break;
      }
  }
  return nodes;
};

const H = (value: unknown): string => sha256Hex(canonicalJson(value as WideJson));

/** Digests and ids, and the four hashes with the default configuration, as compiler-stages defines them. */
export const naiveStages = (nodes: readonly NaiveNode[]) => {
  const named = nodes.map(({ kind, turn, payload }, ordinal) => {
    const digest = H({ kind, turn, payload });
    return { kind, turn, payload, digest, id: `n${String(ordinal).padStart(8, '0')}_${digest.slice(0, 8)}` };
  });
  const node_hash = H(named.map(({ digest }) => digest));
  const counts: Record<string, number> = {};
  for (const { kind } of named) counts[kind] = (counts[kind] ?? 0) + 1;
  const RAW = {
    schema_version: '0.1',
    node_count: named.length,
    event_count: named.length,
    node_hash,
    kind_counts: counts,
  };
  const messages = named.filter(({ kind }) => kind === 'message');
  const ids = messages.map(({ id }) => id);
  const last = (role: string) => messages.filter((node) => node.payload['role'] === role).at(-1)?.id;
  const pins = ids.filter((id) => id === last('user') || id === last('assistant'));
  const listed = {
    kind_allowlist: ['message'],
    candidate_ids: ids,
    candidate_count: ids.length,
    selected_ids: ids,
    selected_count: ids.length,
    kept_ids: ids,
    kept_count: ids.length,
    dropped_ids: [],
    dropped_count: 0,
    collapsed_ids: [],
    collapsed_count: 0,
    pinned_count: pins.length,
    max_nodes: null,
    max_turns: null,
    max_message_chars: null,
    pinned_ids: pins,
  };
  const selection_sha256 = H(listed);
  const SPEC = {
    schema_version: '0.1',
    selection: { ...listed, selection_sha256 },
    selected: messages.map(({ id, digest, kind, turn, payload }) => ({
      id,
      digest,
      kind,
      turn,
      payload_hash: H(payload),
      payload_shape: ['content', 'role'],
    })),
  };
  const HEADER = {
    schema_version: '0.1',
    policy: 'messages_only',
    header_mode: 'hash_only',
    node_hash,
    selected_node_ids: ids,
    selection_sha256,
    messages: messages.map(({ id, payload }) => {
      const { content, role } = payload;
      return {
        node_id: id,
        role,
        name: null,
        payload_hash: H(payload),
        content_hash: content === null ? H(payload) : H(content),
        content_len: typeof content === 'string' ? Array.from(content).length : null,
        tool_call_count: null,
      };
    }),
  };
  return { named, hashes: { nodeHash: node_hash, z1: H(RAW), z2: H(SPEC), z3: H(HEADER) } };
};
