import { isJsonObject, sha256Hex, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { ModelApi } from './api-names.ts';
import { objectOrEmpty, textOrNull } from './body.ts';

/**
 * Headers by which clients say to which session a call belongs, the first one that is there decides: Claude Code, OpenCode, Codex,
 * and what gateways have in common. None of them authorises anything.
 */
const HEADERS = [
  'x-claude-code-session-id',
  'x-opencode-session',
  'session-id',
  'session_id',
  'x-session-id',
  'x-litellm-session-id',
  'helicone-session-id',
  'x-session-affinity',
  'conversation_id',
] as const;

/** Keys of OpenAI's `metadata` that name a conversation. */
const METADATA = [
  'session_id',
  'sessionId',
  'conversation_id',
  'conversationId',
  'thread_id',
  'threadId',
  'chat_id',
  'chatId',
] as const;

/** The longest name of a session. */
const MOST_CHARACTERS = 512;

/** Hexadecimal digits that are kept of the hash of a session's name. */
const OF_HASH = 32;

/** A cache key that is made for one conversation has an id in it; others hold for a whole program. */
const HAS_ID = /[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|\bses_\w{10,}/i;

/** The session that the headers of a request name; undefined: they name none. */
export const sessionInHeaders = (headers: {
  readonly [name: string]: string | readonly string[] | undefined;
}): string | undefined => {
  for (const name of HEADERS) {
    const value = headers[name];
    const session = nameOfSession(typeof value === 'string' ? value : null);
    if (session !== undefined) return session;
  }
  return undefined;
};

/**
 * The session that the parameters of a request name: of Anthropic's API the user, or the session that Claude Code puts there; of
 * OpenAI's a key of `metadata`, or a cache key that is made for one conversation.
 */
export const sessionInParameters = (api: ModelApi, parameters: WideJson): string | undefined => {
  const { metadata, prompt_cache_key: cacheKey } = objectOrEmpty(parameters);
  const known = objectOrEmpty(metadata ?? null);
  if (api === 'anthropic.messages') return nameOfSession(sessionOfUser(textOrNull(known['user_id'])));
  const named = METADATA.map((key) => textOrNull(known[key])).find((value) => value !== null) ?? null;
  const ofCache = textOrNull(cacheKey);
  return nameOfSession(named ?? (ofCache !== null && HAS_ID.test(ofCache) ? ofCache : null));
};

/** By it calls of one session are found: the name itself may say whose session it is. */
export const hashOfSession = (session: string): string =>
  sha256Hex(`stemma session\n${session}`).slice(0, OF_HASH);

/** `user_…_account_…_session_ID`, or JSON with a `session_id`, is what Claude Code says; others name a user. */
const sessionOfUser = (user: string | null): string | null => {
  if (user === null) return null;
  const named = /_session_([\w-]{8,})$/.exec(user)?.[1];
  if (named !== undefined) return named;
  if (!user.startsWith('{')) return user;
  const said = parsed(user);
  return said === undefined ? user : (textOrNull(said['session_id']) ?? user);
};

const parsed = (text: string): WideJsonObject | undefined => {
  try {
    const value = JSON.parse(text) as WideJson;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const nameOfSession = (given: string | null): string | undefined => {
  const name = given?.trim() ?? '';
  return name === '' || name.length > MOST_CHARACTERS ? undefined : name;
};
