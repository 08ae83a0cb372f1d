export { openEmbeddedLog } from './embedded-log.ts';
export { entryBytes, HEADER_BYTES as ENTRY_HEADER_BYTES, readEntry, writeEntry } from './entry.ts';
export { identifyRecord } from './identify-record.ts';
