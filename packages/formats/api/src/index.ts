export type { StepRequest } from '@stemma/history';
import './csp.ts';

export { Diff } from './answers.ts';
export { type AttemptAnswer, attemptAnswer, callAddressAnswer, wholeAttemptAnswer } from './attempts.ts';
export type { AssignAnswer, LinkAnswer } from './corrections.ts';
export { BranchNodeAnswer, LoadRequest } from './branches.ts';
export { pastOf, WhyAnswer } from './causes.ts';
export { ExchangeAnswer, ExchangeRequest, isPlaceName, type ExchangesAnswer } from './exchanges.ts';
export { addressOf, type ApiClient, createClient, type ApiFetch } from './client.ts';
export {
  authorOfRequest,
  callAnswer,
  commandAnswer,
  commandOfRequest,
  positionAnswer,
  startStep,
} from './command-answer.ts';
export {
  CallAnswer,
  CommandAnswer,
  commandRequest,
  CommandRequest,
  MAX_ITEMS,
  StartRequest,
} from './commands.ts';
export { CtreeMessage, Ctrees, CtreeView } from './ctrees.ts';
export { Doctor } from './doctor.ts';
export type { AnswerOf, Endpoint, InputOf } from './endpoint.ts';
export {
  type EndpointName,
  type Endpoints,
  ENDPOINTS,
  servedEndpoints,
  type StreamName,
} from './endpoints.ts';
export { describeIntervention } from './describe-intervention.ts';
export { cutText, excerptOf, firstWords } from './excerpt.ts';
export { HEAVY } from './heavy.ts';
export { ImpactAnswer } from './impact.ts';
export { InterventionAnswer, interventionTypes } from './interventions.ts';
export { LoggedEventAnswer, StreamedEvent, StreamMessage } from './logged.ts';
export { openApi } from './open-api.ts';
export type { PromptSizeAnswer, SizesAnswer } from './sizes.ts';
export {
  BranchSummaryAnswer,
  HistoryPage,
  HistorySummaryAnswer,
  PositionAnswer,
  SnapshotPage,
  SnapshotSummaryAnswer,
} from './summaries.ts';
export { Excerpt, NodeDetail, RemovedNode, TreeNodeAnswer, TreePage } from './tree.ts';
export { WatchAnswer } from './watch.ts';
export { fromWireJson, toWireJson } from './wire-json.ts';
export { breakpointOf, type BreakpointRequest, type HeldCallAnswer, heldCallAnswer } from './steering.ts';
export { anyJson, reference } from './values.ts';
