/** A language-model API whose bodies this package reads, or `other`. */
export type ModelApi = 'openai.chat' | 'openai.responses' | 'anthropic.messages' | 'other';

/** How the path of an API ends. */
const ENDINGS: readonly (readonly [ending: string, api: ModelApi])[] = [
  ['/chat/completions', 'openai.chat'],
  ['/responses', 'openai.responses'],
  ['/messages', 'anthropic.messages'],
];

/** A message of OpenAI's Assistants, whose path ends as that of Anthropic's API does. */
const ASSISTANTS = /\/threads\/thread_[^/]*\/messages$/;

/**
 * The API that a request calls, by the end of its path: whatever stands before `/chat/completions`, `/responses` or
 * `/messages` (a version, the prefix of a proxy) and the query are ignored. All of these are called with POST; what lies
 * below them (`/responses/{id}`, `/messages/count_tokens`, `/messages/batches`) is `other`.
 */
export const apiOf = (method: string, path: string): ModelApi => {
  if (method.toUpperCase() !== 'POST') return 'other';
  const [withoutQuery = ''] = path.split(/[?#]/, 1);
  const plain = withoutQuery.endsWith('/') ? withoutQuery.slice(0, -1) : withoutQuery;
  if (ASSISTANTS.test(plain)) return 'other';
  return ENDINGS.find(([ending]) => plain.endsWith(ending))?.[1] ?? 'other';
};
