import { READ_APIS, type ModelApi } from './api-names.ts';
import { formatOf } from './apis.ts';

/**
 * The API that a request calls, by its path: whatever stands before `/chat/completions`, `/responses` or `/messages` (a version,
 * the prefix of a proxy) and the query are ignored. All APIs are called with POST; what lies below their paths
 * (`/responses/{id}`, `/messages/count_tokens`, `/messages/batches`) is `other`.
 */
export const apiOf = (method: string, path: string): ModelApi => {
  if (method.toUpperCase() !== 'POST') return 'other';
  const plain = plainPath(path);
  return READ_APIS.find((api) => formatOf(api).isPath(plain)) ?? 'other';
};

/** A path without its query, and without a slash at its end. */
export const plainPath = (path: string): string => {
  const [withoutQuery = ''] = path.split(/[?#]/, 1);
  return withoutQuery.endsWith('/') ? withoutQuery.slice(0, -1) : withoutQuery;
};
