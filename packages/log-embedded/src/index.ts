export { openEmbeddedLog } from './embedded-log.ts';
