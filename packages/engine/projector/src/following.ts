import { fail } from '@stemma/errors';
import type { Checkpoint } from '@stemma/log';
import { anySignal } from '@stemma/machine';
import { isClosed } from './checkpoint.ts';
import { gather, noticeDiscards, type Discards, type Followed } from './followed.ts';
import { moreRecords } from './more-records.ts';
import type { Resolved } from './options.ts';
import type { PartitionRuns } from './partition-runs.ts';
import type { Projection } from './projection.ts';
import type { Repair } from './repair.ts';

export type FollowingOptions = Resolved & {
  readonly followed: Followed;
  readonly runs: PartitionRuns;
  readonly repair: Repair;
  /** That of the current rows. */
  readonly checkpoint: (partition: number) => Promise<Checkpoint | undefined>;
};

export type Following = Pick<Projection, 'waitFor'> & {
  /** Catches up, and again on every new frame, until the signal aborts; in some partitions or in all. */
  follow(signal: AbortSignal, partitions?: readonly number[]): Promise<void>;
};

/** How a projector waits for records, and folds them when they come. */
export const openFollowing = ({
  log,
  store,
  now,
  partitions,
  followed,
  runs,
  repair,
  checkpoint,
}: FollowingOptions): Following => {
  const followPartition = async (
    partition: number,
    signal: AbortSignal,
    discards: Discards,
  ): Promise<void> => {
    const known = async (at: number) => followed.checkpoint(at) ?? checkpoint(at);
    const waitForMore = moreRecords(log, partition, known);
    while (!signal.aborted) {
      const began = now();
      const before = discards.count();
      await repair.run(() => runs.followOn(partition));
      const took = followed.generation() === undefined ? 0 : now() - began;
      await gather(took, () => discards.during(before, signal, waitForMore), signal, now);
    }
  };
  return {
    async follow(signal, some = partitions) {
      const failed = new AbortController();
      const either = anySignal([signal, failed.signal]);
      const discards = noticeDiscards(store, either, followed);
      // The first failure ends the others, so that nothing of this call runs after it.
      const following = some.map((partition) =>
        followPartition(partition, either, discards).catch((error: unknown) => {
          failed.abort();
          throw error;
        }),
      );
      const ended = await Promise.allSettled(following);
      const wrong = ended.find((each) => each.status === 'rejected');
      if (wrong !== undefined) throw wrong.reason;
    },
    async waitFor({ partition, offset }, signal) {
      const waitForMore = moreRecords(log, partition, checkpoint);
      for (;;) {
        if (((await checkpoint(partition))?.cursor.offset ?? -1) >= offset) return;
        if (signal.aborted) throw fail('E_CANCELLED', `the rows have not reached ${partition}@${offset} yet`);
        await repair.run(() => runs.catchUp(partition));
        const at = await checkpoint(partition);
        if ((at?.cursor.offset ?? -1) >= offset) return;
        if (isClosed(at))
          throw fail('E_PARTITION_CLOSED', `a damaged record closes partition ${partition}`, { partition });
        await waitForMore(signal);
      }
    },
  };
};
