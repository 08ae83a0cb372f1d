export type { Entry, EventLog, LogRecord, EntryOffset, ReadBatch, ReadOptions } from './port.ts';
export type {
  Cursor,
  Damage,
  StaleReason,
  HeadState,
  Heads,
  PartitionState,
  Checkpoint,
} from './checkpoint.ts';
export type { AcceptedFrame, CheckedBatch } from './reading-types.ts';
export type {
  Accepted,
  ContentSink,
  Decision,
  Domain,
  HeadsAsOf,
  LoadedHistory,
  Intent,
  Repeated,
  Session,
  Writer,
  WriterOptions,
} from './writer/types.ts';
export { openWriter } from './writer/partition-writer.ts';
export { boundsOf, type Bounds } from './bounds.ts';
export {
  decodeBody,
  encodeFrame,
  finishBody,
  isDefect,
  missingContents,
  type EncodedFrame,
  type FetchedContents,
  type RawBody,
} from './body.ts';
export { acknowledgeDamage, type Acknowledged, type RecordRange } from './acknowledge-damage.ts';
export {
  appendControl,
  readStoredLog,
  type StoredLog,
  openPartitions,
  raiseVersion,
  type ControlAuthor,
  type RawLog,
} from './control.ts';
export { advanceCursor, checkCursor, cursorAtStart, TAIL_RECORDS, type Opened } from './cursor.ts';
export { decodeEnvelope, encodeEnvelope, FRAME_BEGINS, MAX_ID_BYTES, ZERO_HASH } from './envelope.ts';
export { checkRecord, type Verdict } from './check-record.ts';
export { checkRecords, openRecords, type CheckedRecords } from './check-records.ts';
export { openEvictionOrder, type EvictionOrder } from './eviction-order.ts';
export { openMemoryLog, type MemoryLog, type MemoryLogOptions } from './memory-log.ts';
export type { StoredContent } from './externalise-contents.ts';
export { controlHistory, controlOf, livesIn, partitionOf } from './partition-of.ts';
export { erasureIn, openBody, withoutKey, type Erasure, type FrameSealer } from './sealing.ts';
export { closedBy, defectiveAt, freshPartition } from './partition-state.ts';
export { damagedRecords, type KnownFrames } from './read-back.ts';
export { openDecodedFrames, type DecodedFrames } from './decoded-frames.ts';
export { readFrame, type ContentSource } from './read-frame.ts';
export {
  readControl,
  readPartition,
  checkpointAtStart,
  type ReadPartitionOptions,
} from './read-partition.ts';
export { openRevalidatingReader, type RevalidatingReader } from './revalidating-reader.ts';
export { progressGuard } from './progress-guard.ts';
export {
  frameOfRecord,
  HASH_BYTES,
  openRecord,
  recordHash,
  sameBytes,
  sealRecord,
  type OpenRecord,
} from './record.ts';
export { verifyLog, type LogProblem, type LogReport, type VerifyLogOptions } from './verify-log.ts';
