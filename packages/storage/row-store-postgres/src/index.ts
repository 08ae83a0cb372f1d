export { openPostgresRowStore, type PostgresRowStore } from './postgres-row-store.ts';
