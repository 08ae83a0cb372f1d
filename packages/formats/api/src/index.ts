export type { StepRequest } from '@stemma/history';
import './csp.ts';
export {
  type AttemptAnswer,
  attemptAnswer,
  callAddressAnswer,
  type ProviderCallAnswer,
  providerCallAnswer,
  wholeAttemptAnswer,
  wholeProviderCallAnswer,
} from './attempts.ts';
export type { AssignAnswer, LinkAnswer } from './corrections.ts';
export { LoadRequest } from './branches.ts';
export { pastOf } from './causes.ts';
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
export { answerInRunFile, openContents, runFileKey, type RunFile } from './run-file.ts';
export { callMessages, followingOf, messagesOf } from './call-messages.ts';
export { Ctrees } from './ctrees.ts';
export type { AnswerOf, Endpoint, InputOf, Question } from './endpoint.ts';
export { QUESTIONS } from './questions/all.ts';
export {
  type EndpointName,
  type Endpoints,
  ENDPOINTS,
  servedEndpoints,
  HEAVY,
  isStreamedName,
  type StreamedName,
  type StreamName,
} from './endpoints.ts';
export { changedLines, type ChangedLine } from './changed-lines.ts';
export type { TextDifference } from '@stemma/model-apis';
export { describeIntervention, NAMED_INTERVENTIONS, nameOfIntervention } from './describe-intervention.ts';
export {
  abbreviated,
  causeWords,
  nextSteps,
  grouped,
  rerunHeadline,
  shortValue,
  shownToText,
  whereItDiffers,
  whyItDiffers,
  type DescribedCounts,
  type DescribedDifference,
} from './describe-rerun.ts';
export { cutText, excerptOf, firstWords } from './excerpt.ts';
export { requestChangeAnswer, RequestChangeAnswer, valueText } from './request-change.ts';
export { InterventionAnswer, interventionTypes } from './interventions.ts';
export { LoggedEventAnswer } from './logged.ts';
export { openApi } from './open-api.ts';
export { fidelityNote, fidelityText, importLine, importSentences } from './describe-import.ts';
export { BranchSummaryAnswer, HistorySummaryAnswer, ImportAnswer, PositionAnswer } from './summaries.ts';
export { Excerpt } from './tree.ts';
export { fromWireJson, toWireJson } from './wire-json.ts';
export { breakpointOf, type BreakpointRequest, type HeldCallAnswer, heldCallAnswer } from './steering.ts';
export { PAGE_VIEWS } from './page-views.ts';
export { anyJson, reference } from './values.ts';
export { Diff } from './questions/diff.ts';
export { BranchNodeAnswer } from './questions/branches.ts';
export { WhyAnswer } from './questions/why.ts';
export { CtreeMessage } from './questions/ctrees-stream.ts';
export { CtreeView } from './questions/ctrees-tree.ts';
export { Doctor } from './questions/doctor.ts';
export { ImpactAnswer } from './questions/impact.ts';
export { StreamedEvent, StreamMessage } from './questions/stream.ts';
export type { DecisionAnswer, DecisionPairAnswer } from './questions/decisions.ts';
export type { FilmCellAnswer } from './questions/filmstrip.ts';
export { OVERVIEW_ORDERS, type OverviewRow } from './questions/overview.ts';
export { type PromptSizeAnswer, type SizesAnswer } from './questions/sizes.ts';
export { HistoryPage } from './questions/histories.ts';
export { SnapshotPage, SnapshotSummaryAnswer } from './questions/snapshots.ts';
export { NodeDetail } from './questions/node.ts';
export { RemovedNode, TreeNodeAnswer, TreePage } from './questions/tree.ts';
export { WatchAnswer } from './questions/watch.ts';
