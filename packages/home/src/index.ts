export type {
  DiffResult,
  HistorySummary,
  Home,
  LineageSummary,
  Line,
  LoggedEvent,
  Outcome,
  Position,
  ReplayReport,
  SnapshotSummary,
  TreeView,
  VerifyReport,
} from './home.ts';
