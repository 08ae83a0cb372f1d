import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import {
  comparableMessage,
  openRequestValueReader,
  withoutBillingLine,
  type ModelApi,
} from '@stemma/model-apis';
import { openKnownPrefixes } from './known-prefixes.ts';
import type { LiveCall } from './matches.ts';
import { maskedValue } from './values/match-values.ts';
import type { TextLocation, Tokenizer } from './values/tokens.ts';

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

/** What was read of a value before, as most messages of a call stand in the one before it. */
const remembered = <V extends WideJson, R>(known: Map<string, R>, value: V, read: (value: V) => R): R => {
  const text = sourceText(value);
  const found = known.get(text) ?? read(value);
  known.set(text, found);
  return found;
};

/** `JSON.stringify` is ten times as fast as the canonical text, and has no large integers. */
const sourceText = (value: WideJson): string => {
  try {
    return JSON.stringify(value);
  } catch {
    return canonicalJson(value);
  }
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
  const messages = new Map<string, ReadMessage>();
  const heads = new Map<string, ReadHead>();
  const readMessage = (given: WideJsonObject): ReadMessage => {
    const role = roleOf(given);
    const plain = role === 'assistant' ? null : withoutMarks(withoutBillingLine(given));
    const text = plain === null ? comparableMessage(given) : canonicalJson(plain);
    // An answer is compared by what it says, which its text here is.
    const value = (): WideJson => plain ?? parseWideJson(text);
    const { text: masked, ids, times } = maskedValue(value(), placeOf(role), tokenize);
    return {
      role,
      exact: numbers(text),
      masked: numbers(tools === 'recorded' && isResult(given) ? `result ${given.tool_call_id}` : masked),
      ids,
      times,
      value,
      message: given,
    };
  };
  const readHead = ([parameters, given]: readonly [WideJsonObject, WideJson]): ReadHead => {
    const plain = withoutMarks(given);
    const { text, ids, times } = maskedValue([parameters, plain], 'parameters', tokenize);
    const exact = numbers(canonicalJson([parameters, plain]));
    return { parameters, tools: plain, exact, masked: numbers(text), ids, times };
  };
  /** Of messages that are the same object no text is made. */
  const objects = new WeakMap<WideJsonObject, ReadMessage>();
  const message = (given: WideJsonObject): ReadMessage => {
    const known = objects.get(given) ?? remembered(messages, given, readMessage);
    objects.set(given, known);
    return known;
  };
  const readRequestValue = openRequestValueReader();
  const lists = openKnownPrefixes<WideJsonObject, ReadMessage>();
  return {
    message,
    call: ({ api, path, request }) => {
      const read = readRequestValue(api, request, path);
      if (!read.ok || !isJsonObject(request)) {
        const whole = isJsonObject(request) ? request : { request };
        const head = remembered(heads, [whole, null], readHead);
        return { api, path, head, messages: [], previous: null };
      }
      const { model, stream } = request;
      const parameters = Object.fromEntries(
        Object.entries({
          ...(model === undefined ? {} : { model }),
          ...(stream === undefined ? {} : { stream }),
          // The path says it where the body does not.
          ...(model === undefined && read.model !== null ? { model: read.model, stream: read.stream } : {}),
          ...read.parameters,
        }).filter(([name]) => name !== MARK),
      );
      return {
        api,
        path,
        head: remembered(heads, [parameters, toolsIn(request, read.tools)], readHead),
        messages: lists(read.messages, message),
        previous: read.previous,
      };
    },
  };
};

/** As the body has them; null: it has none. */
const toolsIn = (request: WideJsonObject, tools: readonly WideJson[]): WideJson =>
  request['tools'] ?? (tools.length === 0 ? null : tools);

const isResult = (message: WideJsonObject): message is WideJsonObject & { readonly tool_call_id: string } =>
  message['role'] === 'tool' && typeof message['tool_call_id'] === 'string';

const roleOf = ({ role }: WideJsonObject): string => (typeof role === 'string' ? role : '');

/** Where the texts of a message stand. */
export const placeOf = (role: string): TextLocation => {
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
