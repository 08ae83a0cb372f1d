export { destroyLmdbRowStore, openLmdbRowStore, type LmdbRowStoreOptions } from './lmdb-row-store.ts';
