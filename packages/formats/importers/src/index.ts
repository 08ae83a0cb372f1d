export { IMPORTERS } from './catalogue.ts';
export { evalLines, isEvalArchive } from './foreign/inspect/archive.ts';
export { missingAtStart, type ForeignExchange } from './foreign/item.ts';
export {
  DEFLATE,
  listZipEntries,
  nameOfEntry,
  otherCompression,
  startOfEntry,
  STORED,
  ZIP_MAGIC,
  ZSTD,
  ZSTD_LIMITS,
  type RandomAccess,
  type ZipEntry,
} from './foreign/zip-entries.ts';
export { messagesIn, withWrites } from './foreign/langgraph/messages.ts';
export { langChainMessage } from './foreign/said/langchain.ts';
export {
  compareThreads,
  LANGGRAPH_HEAD,
  parentsFirst,
  type StoredChannel,
  MOST_VALUE,
  refuseLongValue,
  storedLine,
  type StoredRow,
  type StoredValue,
  type ThreadName,
} from './foreign/langgraph/stored.ts';
export type { ImportReport } from './importer.ts';
export {
  appendSteps,
  callSteps,
  type CurrentBlock,
  draftStep,
  type RecordedMessage,
  recordedMessages,
} from './openai-chat/call-steps.ts';
export { isSystemRole, leadingSystem, systemBetween } from './openai-chat/leading-system.ts';
export { messageGroups } from './openai-chat/message-groups.ts';
export { messageToNodes } from './openai-chat/message-to-nodes.ts';
export { blocksToMessages } from './openai-chat/nodes-to-messages.ts';
export { redactMessages } from './openai-chat/redact-messages.ts';
export { threadBlocks } from './openai-chat/thread-blocks.ts';
export { toOpenAIMessages } from './openai-chat/to-openai-messages.ts';
export { nameOfMessages } from './name-of-messages.ts';
export { readImport, sourceOfConversation, type ImportItem, type NameConversation } from './read-import.ts';
export type { ImportSource } from './source.ts';
export { openSpanAssembly } from './foreign/otel/assembly.ts';
export { spansIn } from './foreign/otel/layouts/find-spans.ts';
export { openSummary, sumOfSummaries, type SummaryCounter } from './summary.ts';
export { WARNINGS } from './warnings.ts';
