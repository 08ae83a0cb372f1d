const PREFIX = 'provider-';

/** The id of a call without messages begins so, wherever it is noted. */
export const providerCallId = (id: string): string => `${PREFIX}${id}`;

/** True for the id of a call of a provider's API that carries no messages, such as `POST /v1/embeddings`. */
export const isProviderCall = ({ id }: { readonly id: string }): boolean => id.startsWith(PREFIX);

/** Methods whose requests are calls. What only reads, such as a list of models, passes and is counted. */
const CALLING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Requests for keys: what comes back is one, so nothing of them is kept. */
const OF_KEYS =
  /\/(?:oauth2?|token|client_secrets|realtime\/(?:transcription_)?sessions|(?:admin_)?api_keys)(?:\/|$)/i;

/** What a client reports of itself to the host of its models, such as Claude Code's `POST /api/event_logging/v2/batch`. Ollama's calls are below `/api`, too. */
const OF_CLIENTS =
  /^\/(?:api\/(?!(?:embed|embeddings|generate|chat|pull|create|show|copy|push|delete)$)|mcp-registry\/)/;

/** True if a request whose API nobody reads is recorded. */
export const isRecordedRequest = (method: string, path: string): boolean =>
  CALLING.has(method) && !OF_KEYS.test(path) && !OF_CLIENTS.test(path);
