export { openPostgresContents } from './postgres-contents.ts';
