import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';

/**
 * What a message is compared by: the canonical JSON of what it says, without what says nothing to the model. Two messages
 * with the same text here are one message, in whichever of its forms a client or a provider wrote it (calls §3.2):
 *
 * ```
 * { role: 'user', content: 'hi' }
 * { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }] }
 * ```
 *
 * A list of messages is compared message by message.
 */
export const comparableMessage = (message: WideJson): string =>
  canonicalJson(
    Array.isArray(message) ? (message as readonly WideJson[]).map(plainMessage) : plainMessage(message),
  );

/**
 * What does not count in a field. Null is no field at all, wherever it stands: `model_dump` of the Python clients writes
 * null for every field that they know, and `exclude_none` leaves out every null.
 *
 * - `never`: added, left out or changed by clients and providers, whatever it says;
 * - `empty`: an empty text, list or object is the same as none;
 * - `false`: false is the same as none;
 * - `id`: only its `id` is sent back.
 */
type Rule = 'never' | 'empty' | 'false' | 'id';
type Rules = Readonly<Record<string, Rule>>;

const MESSAGE: Rules = {
  // Marks of Anthropic's API, which clients move from message to message with every call.
  cache_control: 'never',
  // Null beside tool calls; some clients write an empty text.
  content: 'empty',
  refusal: 'empty',
  function_call: 'empty',
  item: 'empty',
  tool_calls: 'empty',
  // An empty list, or web citations, which requests need not have.
  annotations: 'never',
  // OpenAI takes back `{id}` of the audio that it gave with its data.
  audio: 'id',
  // What helpers of OpenAI's clients made of the content.
  parsed: 'never',
  // What OpenAI's Responses gives a message, and takes with or without.
  id: 'never',
  status: 'never',
  // Anthropic's results say it where they failed, and some clients always.
  is_error: 'false',
  // Where a client cut messages in a row that the API joins.
  same_message: 'never',
};

const PART: Rules = {
  cache_control: 'never',
  annotations: 'never',
  logprobs: 'never',
  // Null or an empty list where nothing is cited.
  citations: 'empty',
  parsed: 'never',
  status: 'never',
};

const CALL: Rules = { cache_control: 'never', index: 'never', caller: 'never', item: 'empty' };

/** What an item of OpenAI's Responses has beside the call or the result that it is. */
const ITEM: Rules = { id: 'never', status: 'never', parsed_arguments: 'never' };

const FUNCTION: Rules = { parsed_arguments: 'never' };

/** Types of parts that are a text, in the APIs and on both sides of a conversation. */
const TEXTS: ReadonlySet<WideJson | undefined> = new Set(['text', 'input_text', 'output_text']);

/** Roles whose `name` tells nobody apart: agents that several models speak in add it, and some clients to results. */
const UNNAMED: ReadonlySet<WideJson | undefined> = new Set(['assistant', 'tool']);

/** Roles of whoever runs the model. */
const SYSTEMS: ReadonlySet<WideJson | undefined> = new Set(['system', 'developer']);

/**
 * The line that Claude Code puts before its system prompt for Anthropic's books. It says which version asks, and a hash of the request
 * that changes with each.
 */
const BOOKED = /^x-anthropic-billing-header:[^\n]*\n?/u;

const plainMessage = (message: WideJson): WideJson => {
  if (!isJsonObject(message)) return message;
  const { type, name, content, tool_calls: calls, item, items, ...rest } = withoutBillingLine(message);
  const { role } = message;
  return byRules(MESSAGE, {
    ...rest,
    ...(type === 'message' ? {} : given('type', type)),
    ...(UNNAMED.has(role) ? {} : given('name', name)),
    ...given('content', content === undefined ? undefined : plainContent(content)),
    ...given('tool_calls', isList(calls) ? calls.map(plainCall) : calls),
    ...given('item', plainItem(item)),
    ...given('items', isList(items) ? items.map(plainEntry) : items),
  });
};

/** A system message without that line; every other one as it is. */
export const withoutBillingLine = <M extends WideJsonObject>(message: M): M => {
  const { role, content } = message;
  if (content === undefined || !SYSTEMS.has(role)) return message;
  const plain = withoutBooked(content);
  return plain === content ? message : { ...message, content: plain };
};

const withoutBooked = (content: WideJson): WideJson => {
  if (typeof content === 'string') return content.replace(BOOKED, '');
  if (!isList(content)) return content;
  const [first, ...rest] = content;
  if (!isJsonObject(first) || typeof first['text'] !== 'string' || !BOOKED.test(first['text']))
    return content;
  const text = first['text'].replace(BOOKED, '');
  return text === '' && rest.length > 0 ? rest : [{ ...first, text }, ...rest];
};

/** A text, or a list of parts; a list of one text is that text. */
const plainContent = (content: WideJson): WideJson => {
  if (!isList(content)) return content;
  const parts = content.filter((part) => !isCachePoint(part)).map(plainPart);
  const [only] = parts;
  if (parts.length !== 1 || !isJsonObject(only) || only['type'] !== 'text') return parts;
  return typeof only['text'] === 'string' && Object.keys(only).length === 2 ? only['text'] : parts;
};

/** A mark of Bedrock's Converse, which clients move from message to message with every call. */
const isCachePoint = (part: WideJson): boolean =>
  isJsonObject(part) && part['cachePoint'] !== undefined && Object.keys(part).length === 1;

const plainPart = (part: WideJson): WideJson => {
  if (!isJsonObject(part)) return part;
  const { type, content, ...rest } = part;
  const isText = TEXTS.has(type);
  return byRules(isText || type === 'reasoning' ? { ...PART, id: 'never' } : PART, {
    ...rest,
    ...given('type', isText ? 'text' : type),
    ...given('content', content === undefined ? undefined : plainContent(content)),
  });
};

const plainCall = (call: WideJson): WideJson => {
  if (!isJsonObject(call)) return call;
  const { type, function: called, item, ...rest } = call;
  return byRules(CALL, {
    ...rest,
    ...(type === 'function' ? {} : given('type', type)),
    ...given('function', plainFunction(called)),
    ...given('item', plainItem(item)),
  });
};

/** Arguments are compared as what they say: clients that read them write them again in their own way. */
const plainFunction = (called: WideJson | undefined): WideJson | undefined => {
  if (!isJsonObject(called)) return called;
  const { arguments: said, ...rest } = called;
  return byRules(FUNCTION, {
    ...rest,
    ...given('arguments', typeof said === 'string' ? plainArguments(said) : said),
  });
};

const plainArguments = (said: string): string => {
  if (said.trim() === '') return '{}';
  try {
    return canonicalJson(parseWideJson(said));
  } catch {
    return said;
  }
};

const plainItem = (item: WideJson | undefined): WideJson | undefined =>
  isJsonObject(item) ? byRules(ITEM, item) : item;

/** What an item of a turn became: a part, a call, or a message with so many parts. */
const plainEntry = (entry: WideJson): WideJson => {
  if (!isJsonObject(entry) || !isJsonObject(entry['message'])) return entry;
  const { type: _type, ...message } = entry['message'];
  return { message: byRules(ITEM, message), parts: entry['parts'] ?? 1 };
};

const byRules = (rules: Rules, fields: WideJsonObject): WideJsonObject => {
  const kept: Record<string, WideJson> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) continue;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === 'never' || (rule === 'empty' && isEmpty(value)) || (rule === 'false' && value === false))
      continue;
    kept[name] = rule === 'id' && isJsonObject(value) ? { id: value['id'] ?? null } : value;
  }
  return kept;
};

const isEmpty = (value: WideJson): boolean =>
  value === '' ||
  (isList(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0);

const given = (name: string, value: WideJson | undefined): WideJsonObject =>
  value === undefined ? {} : { [name]: value };

const isList = (value: WideJson | undefined): value is readonly WideJson[] => Array.isArray(value);
