export { lineageId, lineOf } from './find.ts';
export type {
  DiffResult,
  HistorySummary,
  Home,
  Line,
  LineageSummary,
  LoggedEvent,
  Outcome,
  Position,
  ReplayOptions,
  ReplayReport,
  SnapshotSummary,
  TreeAt,
  TreeView,
  VerifyReport,
} from './home.ts';
export { parseByteRange, type Blame, type BlamePart, type ByteRange } from './questions/blame.ts';
export type { Origin } from './questions/origin.ts';
export { openHome, type HomeOptions } from './open-home.ts';
