export { MAX_CONTENT_BYTES, type ContentStore } from './port.ts';
