export { destroyLmdbRowStore, openLmdbRowStore } from './lmdb-row-store.ts';
