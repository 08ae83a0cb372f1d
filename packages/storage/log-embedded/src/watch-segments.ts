import type { Disk } from './disk.ts';
import type { PartitionEnd } from './lock-environment.ts';
import { partitionFolder, segmentPath } from './segments.ts';

/** The file of a partition's last segment when it was last looked at: without a number if it was gone, or too short. */
type Seen = { readonly base: number; readonly ino: number | undefined };

/**
 * Notices that another file lies where a partition's last segment was, or that it was cut: somebody put a copy of the log
 * in its place while it was open. Looking costs a few microseconds.
 */
export const watchSegments = (
  disk: Disk,
  directory: string,
  exchanged: () => void,
): ((partition: number, end: PartitionEnd) => void) => {
  const seen = new Map<number, Seen>();
  return (partition, { end, base }) => {
    const file = disk.find(segmentPath(partitionFolder(directory, partition), base));
    const ino = file !== undefined && file.size >= end - base ? file.ino : undefined;
    const before = seen.get(partition);
    if (before?.base === base && before.ino === ino) return;
    seen.set(partition, { base, ino });
    // A segment with a later base is the next one.
    if (before !== undefined && base <= before.base) exchanged();
  };
};
