export { openEmbeddedLog, type EmbeddedLogOptions } from './embedded-log.ts';
