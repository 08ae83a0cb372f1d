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
export { openHome, type HomeOptions } from './open-home.ts';
