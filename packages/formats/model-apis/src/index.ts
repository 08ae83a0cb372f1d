export { argumentTexts, hashOfTold, isToldIn, LEAST_TOLD, userTexts } from './argument-texts.ts';
export type { AnswerError, ContextEdit, ModelAnswer, TokenUsage } from './answer.ts';
export { anthropicMessages } from './anthropic/messages.ts';
export { apiOf } from './api-of.ts';
export {
  apiPathOf,
  isStreamInPath,
  messageFieldsOf,
  mindNames,
  mindOf,
  pathOfMind,
  toolFieldOf,
  writeError,
} from './clients.ts';
export { streamBlocksOf } from './stream-blocks.ts';
export { awsMessage, awsMessages } from './aws-stream.ts';
export type { Framing } from './api-format.ts';
export { framingOfAnswer } from './framing.ts';
export { READ_APIS, type ModelApi, type ReadApi } from './api-names.ts';
export { keptAtProvider } from './kept-at-provider.ts';
export { conversationOf, keptBefore, nameOfAnswer, withKept } from './kept-messages.ts';
export { changedByProvider } from './context-edits.ts';
export { CHAT_ROLES, chatMessageAt } from './chat/message-at.ts';
export { geminiMessages } from './gemini/messages.ts';
export { jsonText } from './json-text.ts';
export { responsesMessages } from './responses/messages.ts';
export type { UnreadableBody } from './body.ts';
export { priceOf, readPrices, sumOfPrices, type CallPrice, type PriceTable } from './price-of.ts';
export { readAnswer, type AnswerHead } from './read-answer.ts';
export { hashOfSession, sessionInHeaders, sessionInParameters } from './said-session.ts';
export { requestChanges, type RequestChange, type RequestFacts } from './request-changes.ts';
export { lineDifferences, textDifferences, type TextDifference } from './text-differences.ts';
export { definitionsIn, valueChanges, type ToolDefinition, type ValueChange } from './tool-definitions.ts';
export { comparableMessage, withoutBillingLine } from './comparable-message.ts';
export { askedOf, openRequestValueReader, readRequest, type ModelRequest } from './read-request.ts';
export { openRequestMessages, type ReadMessages, type RequestMessages } from './request-messages.ts';
export { openRequestValues, type RequestValues } from './request-values.ts';
export { IMAGE_PARTS, TEXT_PARTS, THINKING_PARTS } from './part-kinds.ts';
export { isFailedBlock } from './failed-block.ts';
export { type CalledTool, toolCallOf, toolCallsOf } from './tool-call.ts';
export { isFailedResult, wireOrder } from './wire-order.ts';
export { fitRequest, type FittedRequest } from './write/fit.ts';
export { textOfContent } from './write/content.ts';
export { rewriteRequest, writeRequest, type RequestToWrite } from './write-request.ts';
export { writeAnswer, type AnswerToWrite, type WrittenAnswer } from './write-answer.ts';
export type { OutgoingMessage } from './splicing/outgoing.ts';
export { answeredCall, callIdsOf, faultInPairs } from './splicing/tool-pairs.ts';
export { spliceRequest } from './splicing/splice-request.ts';
export { messagesFor, providerNames } from './messages-for.ts';
export { readProviderCall, type ReadProviderCall } from './provider-call.ts';
