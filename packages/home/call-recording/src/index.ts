export { type CallEnd, finishCall } from './finish-call.ts';
export { hashPrompt, promptOf, type PromptHashes } from './prompt-hash.ts';
export type { Call, CallOutcome } from './record-call-types.ts';
export { placed as placedRedactions, recordCall } from './record-call.ts';
export { BEGINNING } from './start-branches.ts';
export { openRequestRecorder, type RequestRecorder } from './record-request.ts';
export type { CallScope, FoundBranch, PlacedCall, UnplacedCall } from './record-request-types.ts';
export { type CallFacts, type CallStarter, openCallStarter } from './start-call.ts';
export { type ProviderCallFacts, recordProviderCall, type WireBody } from './record-provider-call.ts';
export { redactedRequest } from './redacted-body.ts';
export { startCallAtTip, type TipCall } from './start-call-at-tip.ts';
export {
  assignCall,
  assignFrom,
  type AssignedCall,
  type CallDestination,
  type Corrector,
} from './assign-call.ts';
export { linkConversation, type LinkedConversation } from './link-conversation.ts';
export { linkImports, type ImportedChild } from './link-imports.ts';
