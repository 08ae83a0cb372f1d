export { Diff } from './answers.ts';
export { BranchNode, LoadRequest } from './branches.ts';
export { Why } from './causes.ts';
export { addressOf, type Client, createClient, type Fetch } from './client.ts';
export { CallAnswer, CommandAnswer, CommandRequest, StartRequest, Step } from './commands.ts';
export { CtreeMessage, Ctrees, CtreeView } from './ctrees.ts';
export { Doctor } from './doctor.ts';
export type { AnswerOf, Endpoint, InputOf } from './endpoint.ts';
export { type EndpointName, type Endpoints, ENDPOINTS, type StreamName } from './endpoints.ts';
export { Impact } from './impact.ts';
export { Intervention } from './interventions.ts';
export { LoggedEvent, StreamedEvent, StreamMessage } from './logged.ts';
export { openApi } from './open-api.ts';
export {
  BranchSummary,
  HistoryPage,
  HistorySummary,
  Position,
  SnapshotPage,
  SnapshotSummary,
} from './summaries.ts';
export { Excerpt, NodeDetail, RemovedNode, TreeNode, TreePage } from './tree.ts';
export { WatchMessage } from './watch.ts';
export { fromWireJson, toWireJson } from './wire-json.ts';
