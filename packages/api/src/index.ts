import './csp.ts';

export type { Comparison } from './comparison.ts';
export type { Impact } from './impact.ts';
export type { Intervention, InterventionPage } from './interventions.ts';
export { ENDPOINTS, type EndpointName, type Endpoints, type StreamName } from './endpoints.ts';
export type { Answer, AnswerOf, Endpoint, InputOf } from './endpoint.ts';
export { addressOf, createClient, type Client, type Fetch } from './client.ts';
export { openApi } from './open-api.ts';
export { fromWireJson, toWireJson } from './wire-json.ts';
export { Diff, ErrorAnswer, Health, Selection, Stats, VerifyStatus } from './answers.ts';
export { CallAnswer, CallRequest, CommandAnswer, CommandRequest, StartRequest, Step } from './commands.ts';
export { LineageNode, LoadRequest, Observation, SavedPosition } from './lineages.ts';
export { Bisection } from './bisect.ts';
export { Blame } from './blame.ts';
export { CacheReport } from './cache.ts';
export { Doctor } from './doctor.ts';
export { ExplainedDiff, Why } from './causes.ts';
export { WatchMessage } from './watch.ts';
export { EventPage, LoggedEvent, StreamedEvent, StreamMessage } from './logged.ts';
export {
  HistoryPage,
  HistorySummary,
  LineageSummary,
  Position,
  SnapshotPage,
  SnapshotSummary,
} from './summaries.ts';
export { Excerpt, LeftNode, NodeDetail, TreeNode, TreePage } from './tree.ts';
export { CtreeEvents, CtreeMessage, CtreeNode, Ctrees, CtreeView } from './ctrees.ts';
