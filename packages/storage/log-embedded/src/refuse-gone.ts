import { fail } from '@stemma/errors';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import type { LockEnvironment } from './lock-environment.ts';
import { partitionFolder, partitionsIn, segmentBases } from './segments.ts';

/** The file with the log's id: it is written when every partition has its first record. */
export const idFile = (directory: string): string => join(directory, 'id');

/**
 * A log that was made once and has lost all segments of a partition is not a new one: a new one in its place would hide
 * that everything is gone. Some missing segments are damage instead, since the others still show their place.
 *
 * @param environment the durable ends, where they are known already.
 * @throws E_LOG_GONE
 */
export const refuseGone = (
  disk: Disk,
  directory: string,
  environment?: Pick<LockEnvironment, 'end'>,
): void => {
  const hasId = disk.exists(idFile(directory));
  const partitions = partitionsIn(disk, directory);
  if (hasId && partitions === 0) throw gone(directory, 'the folder 0', 'the file id says that there was one');
  for (let partition = 0; partition < partitions; partition++) {
    if (segmentBases(disk, partitionFolder(directory, partition)).length > 0) continue;
    const end = environment?.end(partition)?.end ?? 0;
    const what = `every segment file of partition ${partition}`;
    if (end > 0) throw gone(directory, what, `the partition ended at offset ${end}`);
    if (hasId) throw gone(directory, what, 'the file id says that there was one');
  }
};

const gone = (directory: string, missing: string, why: string): Error =>
  fail('E_LOG_GONE', `the log in ${directory} is gone: ${missing} is missing, but ${why}`, { directory });
