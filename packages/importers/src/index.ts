export { IMPORTERS, importerNamed } from './catalogue.ts';
export { MAX_CONTENT_BYTES } from './check-node.ts';
export type { Counts, Draft, Importer, Report, Unit } from './importer.ts';
export type { Message, RecordedBlock } from './openai-chat/message.ts';
export { blocksToMessages } from './openai-chat/nodes-to-messages.ts';
export { toOpenAIMessages } from './openai-chat/to-openai-messages.ts';
export { importId, readImport, type ImportItem, type ImportOptions } from './read-import.ts';
export type { ImportSource } from './source.ts';
export { MAX_DOCUMENT } from './units.ts';
