export { MAX_RECORD_BYTES, relayedRecords, type RelayedRecord } from './record.ts';
