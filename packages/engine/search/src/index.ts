export { DOCUMENT_KINDS, type DocumentKind } from './documents.ts';
export {
  isLike,
  isThat,
  NUMBER_FIELDS,
  parseFilters,
  TEXT_FIELDS,
  wordsOfSearch,
  type NumberField,
  type SearchFilter,
  type SearchWord,
} from './filters.ts';
export { removeIndex } from './index-file.ts';
export { openSearch, type Search, type SearchAnswer, type SearchHit, type SearchQuery } from './search.ts';
