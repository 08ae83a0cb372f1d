import { EMBEDDER, embedText } from '@stemma/analysis';
import { fromHex, sha256 } from '@stemma/canonical';
import type { NodeRecord, Payload, PayloadSource, RecordChange } from '@stemma/context-tree';
import { payloadIn, vectorsIn, type AppliedFrame, type BranchState } from '@stemma/history';
import type { HistoryEvent, VectorsRecorded } from '@stemma/events';
import { putRow, type Rows } from '@stemma/row-store';
import { collect } from '@stemma/suspend';
import { measurePool } from './measure-pool.ts';
import {
  bytesOfFloats,
  embedderIn,
  newestEntries,
  poolPath,
  poolSizeAt,
  type PoolSize,
} from './pool-rows.ts';
import {
  POOL_BRANCHES,
  POOL_EMBEDDERS,
  POOL_MESSAGES,
  POOL_METRICS,
  POOL_ORDINALS,
  POOL_SEEDS,
  POOL_SIZES,
  POOL_TEXTS,
  POOL_VECTORS,
} from './tables.ts';

/**
 * Writes the messages that a frame adds, changes or removes, and, where they are a pool, their vectors and the figures of its
 * snapshot.
 */
export const foldPool = (frame: AppliedFrame, rows: Rows, payload: PayloadSource): void => {
  const { history, branchId, seq, started, snapshot } = frame;
  // Observations belong to no branch (pool: Observations).
  if (frame.observed) return;
  if (started !== null && started.how !== 'start') {
    rows.put(POOL_BRANCHES, [history, branchId], [started.parent, started.at]);
    return;
  }
  foldMessages(frame, rows);
  if (isPool(frame) && frame.events.some(setsActiveSize)) embedEarlier(frame, rows, payload);
  for (const event of frame.events) if (event.type === 'VectorsRecorded') foldVectors(history, event, rows);
  if (snapshot === null) return;
  const { config } = frame.state;
  const activeSize = config[ACTIVE_SIZE];
  if (typeof activeSize !== 'number') return;
  const at = { history, branchId, seq };
  const embedder = embedderIn(config);
  const found = measurePool(rows, at, { activeSize, embedder }, seq - 1);
  putRow(rows, POOL_METRICS, {
    history,
    branch_id: branchId,
    seq,
    embedder,
    cycle: snapshot.cycle,
    next: found.next,
    messages: found.messages,
    active: found.active,
    embedded: found.embedded,
    texts: found.texts,
    added: found.added,
    similarity: found.similarity,
    seed_distance: found.seedDistance,
    diversity: found.diversity,
    noise: found.noise,
    attractors: found.attractors,
  });
};

/** Only a pool has this setting (pool: Runner). */
const ACTIVE_SIZE = 'active_pool_size';

const isPool = ({ state }: AppliedFrame): boolean => typeof state.config[ACTIVE_SIZE] === 'number';

const setsActiveSize = (event: HistoryEvent): boolean =>
  event.type === 'ConfigurationChanged' && event.changes.some(({ key }) => key === ACTIVE_SIZE);

/** A message of a pool: a block of text at offset 0, outside of the system header (pool: One model). */
const isMessage = ({ headers, location }: NodeRecord): boolean =>
  headers.nodeType === 'cb' && headers.offset === 0 && headers.kind === 'text' && location.kind !== 'sys';

const foldMessages = (frame: AppliedFrame, rows: Rows): void => {
  const { history, branchId, seq, changes } = frame;
  const touched = changes.flat().filter(isOfMessage);
  if (touched.length === 0) return;
  const before = sizeBefore(frame, rows);
  let { next, messages } = before;
  for (const { node, before: old, after } of touched) {
    const [was, is] = [old !== undefined && isMessage(old), after !== undefined && isMessage(after)];
    const known = rows.get(POOL_ORDINALS, [history, node])?.[0];
    const ordinal = known ?? next;
    if (known === undefined) rows.put(POOL_ORDINALS, [history, node], [next++]);
    messages += Number(is) - Number(was);
    if (after === undefined || !is) {
      putRow(rows, POOL_MESSAGES, { history, branch_id: branchId, ordinal, from: seq });
      continue;
    }
    const { payload } = after;
    putRow(rows, POOL_MESSAGES, {
      history,
      branch_id: branchId,
      ordinal,
      from: seq,
      node,
      payload_seq: payload.seq,
      payload_index: payload.index,
    });
    if (payload.seq === seq) foldText(frame, payload.index, rows);
  }
  if (next !== before.next || messages !== before.messages)
    rows.put(POOL_SIZES, [history, branchId, seq], [next, messages]);
  sizes.set(frame.state, { seq, before, after: { next, messages } });
};

/** What the newest frame with messages made of a branch that is in memory: else a range would be read for each frame. */
const sizes = new WeakMap<
  BranchState,
  { readonly seq: number; readonly before: PoolSize; readonly after: PoolSize }
>();

const sizeBefore = ({ history, branchId, seq, state }: AppliedFrame, rows: Rows): PoolSize => {
  const known = sizes.get(state);
  if (known === undefined) return poolSizeAt(rows, history, poolPath(rows, { history, branchId, seq }));
  // A frame may be folded again after something was fetched.
  return known.seq === seq ? known.before : known.after;
};

type NodeChange = Extract<RecordChange, { readonly node: string }>;

const isOfMessage = (change: RecordChange): change is NodeChange =>
  'node' in change &&
  ((change.before !== undefined && isMessage(change.before)) ||
    (change.after !== undefined && isMessage(change.after)));

const foldText = (frame: AppliedFrame, index: number, rows: Rows): void => {
  const { history, seq, events } = frame;
  const event = events[index];
  if (event === undefined) return;
  const payload = payloadIn(event);
  const text = textIn(payload);
  const hash = sha256(text);
  const { data_round: round, data_mind_id: mind, data_source: source } = payload;
  const isSeed = source === 'seed';
  putRow(rows, POOL_TEXTS, {
    history,
    seq,
    index,
    content_hash: hash,
    // A message that names no round came after the newest one.
    round: wholeFrom(round, 0) ?? frame.state.tree.cycle,
    mind_id: wholeFrom(mind, -1) ?? -1,
    source: typeof source === 'string' ? source : null,
    is_seed: isSeed,
  });
  if (isSeed) rows.put(POOL_SEEDS, [history, seq, index], [hash]);
  // Nobody asks for those of other histories, and to make them costs as much as all else.
  if (isPool(frame)) putVector(history, hash, text, rows);
};

const textIn = ({ content }: Payload): string => (typeof content === 'string' ? content : '');

const putVector = (history: string, hash: Uint8Array, text: string, rows: Rows): void => {
  if (rows.get(POOL_VECTORS, [history, EMBEDDER, hash]) === undefined)
    rows.put(POOL_VECTORS, [history, EMBEDDER, hash], [bytesOfFloats(embedText(text))]);
};

/** The vectors of messages that are older than their history is a pool. */
const embedEarlier = ({ history, branchId, seq }: AppliedFrame, rows: Rows, payload: PayloadSource): void => {
  const path = poolPath(rows, { history, branchId, seq });
  const { next } = poolSizeAt(rows, history, path);
  const earlier = newestEntries(rows, history, path, { next }).filter(
    ({ contentHash }) => rows.get(POOL_VECTORS, [history, EMBEDDER, contentHash]) === undefined,
  );
  // All of them are fetched at once.
  const payloads = collect((attempt) =>
    earlier.map(({ seq, index }) => attempt(payload, { seq, index }, null)),
  );
  for (const [i, { contentHash }] of earlier.entries())
    putVector(history, contentHash, textIn(payloads[i] as Payload), rows);
};

/** The first vector of a text counts, and the dimension of an embedder's first one: what is measured by a vector stays so. */
const foldVectors = (history: string, event: VectorsRecorded, rows: Rows): void => {
  const { embedder, dimension } = event;
  const vectors = vectorsIn(event) ?? [];
  const [kept, before, others] = rows.get(POOL_EMBEDDERS, [history, embedder]) ?? [dimension, 0, 0];
  let texts = before;
  if (kept === dimension)
    for (const [text, vector] of vectors) {
      const key = [history, embedder, fromHex(text)] as const;
      if (rows.get(POOL_VECTORS, [...key]) !== undefined) continue;
      rows.put(POOL_VECTORS, [...key], [new Uint8Array(vector)]);
      texts++;
    }
  const further = kept === dimension ? others : others + vectors.length;
  rows.put(POOL_EMBEDDERS, [history, embedder], [kept, texts, further]);
};

const wholeFrom = (value: unknown, least: number): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least ? value : null;
