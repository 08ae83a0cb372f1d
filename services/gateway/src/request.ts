import { MAX_ITEMS, type Endpoint } from '@stemma/api';
import { isJsonObject, parseWideJson } from '@stemma/canonical';
import { fail, issueText, type ErrorCode } from '@stemma/errors';
import { z } from 'zod';
import type { GivenInput } from './answers.ts';
import { queryOf } from './router.ts';

/** Parameters, query and body of a request, checked against the contract. */
export const inputOf = (given: GivenInput, endpoint: Endpoint): Record<string, unknown> => ({
  ...(endpoint.params === undefined ? {} : parsed(endpoint.params, given.params, 'E_USAGE')),
  ...(endpoint.query === undefined ? {} : parsed(endpoint.query, queryOf(given.query), 'E_USAGE')),
  ...(endpoint.body === undefined ? {} : { body: parsed(endpoint.body, bodyOf(given), 'E_COMMAND_INVALID') }),
});

const parsed = <T>(schema: z.ZodType<T>, value: unknown, code: ErrorCode): T => {
  refuseLongLists(schema, value, code);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw notOfContract(code, result.error.issues);
};

/** Lists above this length are looked at item by item first. */
const LONG = 1_000;

/**
 * The schemas find all that is wrong with a list and say each, in memory, before they say anything. A long list is
 * refused for its first item that is wrong, and for its length before any item.
 */
const refuseLongLists = (schema: z.ZodType, value: unknown, code: ErrorCode): void => {
  if (!(schema instanceof z.ZodObject) || !isJsonObject(value)) return;
  for (const [key, list] of Object.entries(value)) {
    const field: unknown = schema.shape[key];
    if (!Array.isArray(list) || list.length <= LONG || !(field instanceof z.ZodArray)) continue;
    if (list.length > MAX_ITEMS) throw fail(code, `${key}: more than ${MAX_ITEMS} items`, { at: key });
    const item = field.element as z.ZodType;
    for (const [i, one] of list.entries()) {
      const issues = item.safeParse(one).error?.issues;
      if (issues !== undefined)
        throw notOfContract(
          code,
          issues.map((issue) => ({ ...issue, path: [key, i, ...issue.path] })),
        );
    }
  }
};

const notOfContract = (code: ErrorCode, issues: Parameters<typeof issueText>[0]): Error => {
  const { at, sentence } = issueText(issues, 'the request');
  return fail(code, sentence, { at });
};

/** What a command's id and expected position are called in the headers of HTTP. @throws E_USAGE if they disagree */
const withHeaders = ({ headers }: GivenInput, body: unknown): unknown => {
  const [key, match] = [headers['idempotency-key'], headers['if-match']];
  if ((key === undefined && match === undefined) || !isJsonObject(body)) return body;
  const filled: Record<string, unknown> = { ...(body as object) };
  const seq = match === undefined ? undefined : /^"?(\d{1,15})"?$/.exec(match)?.[1];
  if (match !== undefined && seq === undefined)
    throw fail('E_USAGE', 'If-Match is the seq of the newest frame, with or without quotes');
  for (const [name, given] of [
    ['id', key],
    ['expected', seq === undefined ? undefined : Number(seq)],
  ] as const) {
    if (given === undefined) continue;
    if (filled[name] !== undefined && filled[name] !== given)
      throw fail('E_USAGE', `${name} is one thing in the body and another in the headers`);
    filled[name] = given;
  }
  return filled;
};

const bodyOf = (given: GivenInput): unknown => {
  // A form of another site can send other types without asking first; it cannot send this one.
  if (!/^application\/json\b/i.test(given.headers['content-type'] ?? ''))
    throw fail('E_USAGE', 'a request with a body has the content-type application/json');
  return withHeaders(given, parseWideJson(textOf(joinedBody(given)), 'the request'));
};

/** The bytes of a body. */
export const joinedBody = ({ body }: GivenInput): Uint8Array => joined(body ?? []);

/** A body that was read elsewhere, checked against the contract. @throws E_COMMAND_INVALID */
export const bodyOfContract = <T>(schema: z.ZodType<T>, value: unknown): T =>
  parsed(schema, value, 'E_COMMAND_INVALID');

const joined = (pieces: readonly Uint8Array[]): Uint8Array =>
  pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);

const utf8 = new TextDecoder('utf-8', { fatal: true });

const textOf = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw fail('E_INPUT_NOT_JSON', 'the request is not UTF-8');
    throw error;
  }
};
