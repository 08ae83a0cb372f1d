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
export { parseByteRange } from './questions/blame.ts';
export type { Blame, BlamePart, ByteRange, Origin } from './questions/types.ts';
export { openHome, type HomeOptions } from './open-home.ts';
