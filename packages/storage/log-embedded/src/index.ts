export { openEmbeddedLog, openLogOn } from './embedded-log.ts';
export { openReadOnlyLog } from './read-only-log.ts';
export { entryBytes, HEADER_BYTES as ENTRY_HEADER_BYTES, readEntry, writeEntry } from './entry.ts';
export { identifyRecord } from './identify-record.ts';
/* For whoever runs the log on another machine than this one: a simulated one. */
export { openAppendJobs } from './append-jobs.ts';
export { thisMachine } from './this-machine.ts';
export type { Disk, FileStatus } from './disk.ts';
export { endsWithItsHash } from './find-end.ts';
export type { LockEnvironment, PartitionEnd } from './lock-environment.ts';
export type { AppendJobs } from './append-jobs.ts';
export type { AppendThread, EnteredLock, LogMachine } from './log-machine.ts';
