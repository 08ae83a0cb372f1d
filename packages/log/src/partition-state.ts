import type { Damage, HeadState, PartitionState, StaleReason } from './checkpoint.ts';
import { controlHistory } from './partition-of.ts';

const NOTHING_STALE: Readonly<Record<StaleReason, number>> = {
  repeated: 0,
  overtaken: 0,
  unfit: 0,
  misplaced: 0,
  'after-damage': 0,
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

/** The damage that closes the partition, or null. After it nothing is read or written until it is acknowledged. */
export const closedBy = (state: PartitionState): Damage | null =>
  state.damage.find(
    ({ affectsWholePartition, offset }) => affectsWholePartition && !state.acknowledged.includes(offset),
  ) ?? null;

export const countStale = (state: PartitionState, reason: StaleReason): PartitionState => ({
  ...state,
  stale: { ...state.stale, [reason]: state.stale[reason] + 1 },
});

/** Adds damage; the next control history replaces a damaged one (record §2). */
export const addDamage = (state: PartitionState, damage: Damage): PartitionState => {
  if (state.damage.some(({ offset }) => offset === damage.offset)) return state;
  const all = [...state.damage, damage];
  let { control } = state;
  // A successor may be damaged already, before it came into force.
  while (all.some(({ history }) => history === controlHistory(state.partition, control))) control++;
  return { ...state, damage: all, control };
};

export const acknowledge = (state: PartitionState, offset: number): PartitionState =>
  state.acknowledged.includes(offset) ? state : { ...state, acknowledged: [...state.acknowledged, offset] };

/** The head of a history that is defective at `seq`: nothing is served from that frame on (record §2). */
export const defectiveAt = (head: HeadState, seq: number): HeadState =>
  head.state === 'open' ? { ...head, state: 'defective', stopped: seq } : head;
