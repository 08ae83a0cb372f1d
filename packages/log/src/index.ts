export type { Entry, EventLog, LogRecord, Placed, ReadBatch, ReadOptions } from './port.ts';
export type { Cursor, Damage, FenceReason, HeadState, Heads, PartitionState, Standing } from './standing.ts';
export type { AcceptedFrame, FencedBatch } from './reading-types.ts';
export type {
  Accepted,
  ContentSink,
  ContentSource,
  Decision,
  Domain,
  Intent,
  Remembered,
  Session,
  Writer,
  WriterOptions,
} from './writer-types.ts';
