export { destroyLmdbRowStore, openLmdbRowStore } from './lmdb-row-store.ts';
export { openLmdbRowsAtAddress, type LmdbRowsAtAddress } from './rows-at-address.ts';
