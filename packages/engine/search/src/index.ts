export { DOCUMENT_KINDS, type DocumentKind } from './documents.ts';
export { removeIndex } from './index-file.ts';
export { openSearch, type Search, type SearchAnswer, type SearchHit, type SearchQuery } from './search.ts';
