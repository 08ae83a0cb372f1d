/* For whoever runs the log on another machine than this one: a simulated one. */
export { openAppendJobs } from './append-jobs.ts';
export type { AppendThread } from './append-thread.ts';
export type { Disk, FileStatus } from './disk.ts';
export { openLogOn, type EmbeddedLogOptions } from './embedded-log.ts';
export { endsWithItsHash } from './find-end.ts';
export type { Holder } from './holder.ts';
export type { LockEnvironment, PartitionEnd } from './lock-environment.ts';
export type { EnteredLock, JobMachine, LogMachine } from './log-machine.ts';
