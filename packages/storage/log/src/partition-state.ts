import type { Damage, HeadState, PartitionState, StaleReason } from './checkpoint.ts';
import { controlHistory } from './partition-of.ts';

export const NOTHING_STALE: Readonly<Record<StaleReason, number>> = {
  repeated: 0,
  overtaken: 0,
  unfit: 0,
  misplaced: 0,
  'after-damage': 0,
  foreign: 0,
};

/** The state of a partition before anything was read. */
export const freshPartition = (partition: number, partitions: number): PartitionState => ({
  partition,
  partitions,
  control: 0,
  format: 1,
  damage: [],
  acknowledged: [],
  accepted: 0,
  stale: NOTHING_STALE,
});

/** What {@link closedBy} found last for a list of damage: a partition keeps its lists while there is no more damage. */
const found = new WeakMap<
  PartitionState['damage'],
  { readonly acknowledged: PartitionState['acknowledged']; readonly closing: Damage | null }
>();

/** The damage that closes the partition, or null. After it nothing is read or written until it is acknowledged. */
export const closedBy = ({ damage, acknowledged }: PartitionState): Damage | null => {
  if (damage.length === 0) return null;
  const last = found.get(damage);
  if (last?.acknowledged === acknowledged) return last.closing;
  const known = new Set(acknowledged);
  const closing = damage.find((each) => each.affectsWholePartition && !known.has(each.offset)) ?? null;
  found.set(damage, { acknowledged, closing });
  return closing;
};

export const countStale = (state: PartitionState, reason: StaleReason): PartitionState => ({
  ...state,
  stale: { ...state.stale, [reason]: state.stale[reason] + 1 },
});

/** Adds damage; the next control history replaces a damaged one (record §2). */
export const addDamage = (state: PartitionState, damage: readonly Damage[]): PartitionState => {
  const known = new Set(state.damage.map(({ offset }) => offset));
  const more = damage.filter(({ offset }) => !known.has(offset));
  if (more.length === 0) return state;
  const all = [...state.damage, ...more];
  const closed = new Set(all.map(({ history }) => history));
  let { control } = state;
  // A successor may be damaged already, before it came into force.
  while (closed.has(controlHistory(state.partition, control))) control++;
  return { ...state, damage: all, control };
};

export const acknowledge = (state: PartitionState, offsets: readonly number[]): PartitionState => {
  const known = new Set(state.acknowledged);
  const more = offsets.filter((offset) => !known.has(offset));
  return more.length === 0 ? state : { ...state, acknowledged: [...state.acknowledged, ...more] };
};

/** The head of a history that is defective at `seq`: nothing is served from that frame on (record §2). */
export const defectiveAt = (head: HeadState, seq: number): HeadState =>
  head.state === 'open' ? { ...head, state: 'defective', stopped: seq } : head;
