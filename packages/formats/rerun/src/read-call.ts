import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import { comparableMessage, readRequestValue, type ModelApi } from '@stemma/model-apis';
import type { LiveCall } from './matches.ts';
import { maskedValue, type MaskedValue } from './values/match-values.ts';
import type { TextPlace, Tokenizer } from './values/tokens.ts';

/** A message, with what it is compared and looked up by. */
export type ReadMessage = {
  readonly role: string;
  /** Equal for messages that are the same. */
  readonly exact: number;
  /** Equal for messages that are the same but for what may differ between two runs. */
  readonly masked: number;
  readonly ids: readonly string[];
  readonly times: readonly string[];
  /** What is compared. */
  readonly value: () => WideJson;
  readonly message: WideJsonObject;
};

/** What a request has besides its messages. */
export type ReadHead = {
  /** All fields but tools and messages. */
  readonly parameters: WideJsonObject;
  readonly tools: WideJson;
  readonly exact: number;
  readonly masked: number;
  readonly ids: readonly string[];
  readonly times: readonly string[];
};

/** A call as its comparison needs it. */
export type ReadCall = {
  readonly api: ModelApi;
  readonly path: string | null;
  readonly head: ReadHead;
  readonly messages: readonly ReadMessage[];
  /** The earlier answer that it goes on from, where its messages do not hold that. */
  readonly previous: string | null;
};

/** Reads calls and messages of one side. */
export type CallReader = {
  readonly call: (call: LiveCall) => ReadCall;
  readonly message: (message: WideJsonObject) => ReadMessage;
};

/** A number for each text, the same for equal ones. */
export type Numbers = (text: string) => number;

export const openNumbers = (): Numbers => {
  const known = new Map<string, number>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    known.set(text, known.size);
    return known.size - 1;
  };
};

/**
 * @param numbers those of both sides
 * @param tokenize that of this side
 * @param tools `recorded`: results of one tool call are looked up alike, whatever they say
 */
export const openCallReader = (
  numbers: Numbers,
  tokenize: Tokenizer,
  tools: 'real' | 'recorded',
): CallReader => {
  const known = new Map<string, ReadMessage>();
  const message = (given: WideJsonObject): ReadMessage => {
    const role = roleOf(given);
    const isAnswer = role === 'assistant';
    const plain = isAnswer ? null : withoutMarks(given);
    const text = plain === null ? comparableMessage(given) : canonicalJson(plain);
    const found = known.get(text);
    if (found !== undefined) return found;
    // An answer is compared by what it says, which its text here is.
    const value = (): WideJson => plain ?? parseWideJson(text);
    const { text: masked, ids, times } = maskedValue(value(), placeOf(role), tokenize);
    const read: ReadMessage = {
      role,
      exact: numbers(text),
      masked: numbers(tools === 'recorded' && isResult(given) ? `result ${given.tool_call_id}` : masked),
      ids,
      times,
      value,
      message: given,
    };
    known.set(text, read);
    return read;
  };
  const headOf = (parameters: WideJsonObject, tools: WideJson): ReadHead => {
    const { text, ids, times }: MaskedValue = maskedValue([parameters, tools], 'parameters', tokenize);
    return {
      parameters,
      tools,
      exact: numbers(canonicalJson([parameters, tools])),
      masked: numbers(text),
      ids,
      times,
    };
  };
  const heads = new Map<string, ReadHead>();
  const head = (parameters: WideJsonObject, tools: WideJson): ReadHead => {
    const text = canonicalJson([parameters, tools]);
    const found = heads.get(text) ?? headOf(parameters, tools);
    heads.set(text, found);
    return found;
  };
  return {
    message,
    call: ({ api, path, request }) => {
      const read = readRequestValue(api, request);
      if (!read.ok || !isJsonObject(request)) {
        const whole = isJsonObject(request) ? request : { request };
        return { api, path, head: head(whole, null), messages: [], previous: null };
      }
      const names = new Set(['model', 'stream', ...Object.keys(read.parameters)]);
      const parameters = Object.fromEntries(
        Object.entries(request).filter(([name]) => names.has(name) && name !== MARK),
      );
      const tools = request['tools'];
      return {
        api,
        path,
        head: head(parameters, tools === undefined ? null : withoutMarks(tools)),
        messages: read.messages.map(message),
        previous: read.previous,
      };
    },
  };
};

const isResult = (message: WideJsonObject): message is WideJsonObject & { readonly tool_call_id: string } =>
  message['role'] === 'tool' && typeof message['tool_call_id'] === 'string';

const roleOf = ({ role }: WideJsonObject): string => (typeof role === 'string' ? role : '');

/** Where the texts of a message stand. */
export const placeOf = (role: string): TextPlace => {
  if (role === 'tool' || role === 'function') return 'tool';
  if (role === 'system' || role === 'developer') return 'system';
  return role === 'assistant' ? 'assistant' : 'user';
};

const MARK = 'cache_control';

/** How deep marks of caches are: of a message, its parts, and the parts of a result among these. */
const DEPTH_OF_MARKS = 6;

/** The value without marks of caches, which stand in tools, messages and parts, but in no arguments or schema. */
const withoutMarks = <T extends WideJson>(value: T, depth = DEPTH_OF_MARKS): T => {
  if (depth === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value as readonly WideJson[];
    const plain = items.map((item) => withoutMarks(item, depth - 1));
    return (plain.every((item, i) => item === items[i]) ? value : plain) as T;
  }
  const object = value as WideJsonObject;
  const fields = Object.entries(object);
  const plain = fields.map(([name, item]) =>
    PARTS.has(name) ? ([name, withoutMarks(item, depth - 1)] as const) : ([name, item] as const),
  );
  const isSame = object[MARK] === undefined && plain.every(([, item], i) => item === fields[i]?.[1]);
  return (isSame ? value : Object.fromEntries(plain.filter(([name]) => name !== MARK))) as T;
};

/** Fields that hold parts which may have marks. */
const PARTS: ReadonlySet<string> = new Set(['content', 'function', 'output']);
