export { destroyLmdbRowStore, openLmdbRowStore } from './lmdb-row-store.ts';
export {
  openLmdbGenerationAtAddress,
  openLmdbRowsAtAddress,
  type LmdbGenerationAtAddress,
  type LmdbRowsAtAddress,
} from './rows-at-address.ts';
