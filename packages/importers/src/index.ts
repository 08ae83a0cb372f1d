export { IMPORTERS } from './catalogue.ts';
export type { ImportReport } from './importer.ts';
export { callSteps, type CurrentBlock } from './openai-chat/call-steps.ts';
export { redactMessages } from './openai-chat/redact-messages.ts';
export { toOpenAIMessages } from './openai-chat/to-openai-messages.ts';
export { readImport } from './read-import.ts';
export type { ImportSource } from './source.ts';
