import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isList } from './body.ts';

/**
 * What may become of a field when a client sends an answer back, beyond what may become of each: null is the same as no
 * field at all, since `model_dump` of the Python clients writes null for every field that they know, and `exclude_none`
 * leaves out every null.
 *
 * - `empty`: an empty text, list or object is the same as none, too;
 * - `optional`: added or left out, whatever it says;
 * - `id`: only its `id` is sent back.
 */
type Rule = 'empty' | 'optional' | 'id';

/** The rules for the fields of an object, and the shapes of what some of them hold, or of each item of a list there. */
type Shape = {
  readonly rules: Readonly<Record<string, Rule>>;
  readonly within: Readonly<Record<string, Shape>>;
};

const PLAIN: Shape = { rules: {}, within: {} };

const PART: Shape = {
  rules: {
    // An empty list in texts of OpenAI's Responses, or web citations, which requests need not have.
    annotations: 'optional',
    logprobs: 'empty',
    // Of Anthropic's texts: null or an empty list where nothing is cited.
    citations: 'empty',
    // What `responses.stream` and `responses.parse` of OpenAI's clients made of the text.
    parsed: 'optional',
  },
  within: {},
};

/** The function of a call, and what of an item of OpenAI's Responses is beside it. */
const WITH_ARGUMENTS: Shape = {
  // What the helpers of OpenAI's clients made of the arguments.
  rules: { parsed_arguments: 'optional' },
  within: {},
};

const CALL: Shape = {
  // OpenAI's Python client keeps the index of a call in a stream.
  rules: { index: 'optional' },
  within: { function: WITH_ARGUMENTS, item: WITH_ARGUMENTS },
};

const MESSAGE: Shape = {
  rules: {
    // Null beside tool calls; some clients write an empty text.
    content: 'empty',
    refusal: 'empty',
    function_call: 'empty',
    // Some servers and clients write an empty list where there are none.
    tool_calls: 'empty',
    // An empty list, or web citations, which requests need not have.
    annotations: 'optional',
    // OpenAI takes back `{id}` of the audio that it gave with its data.
    audio: 'id',
    // Agents that several models speak in add it.
    name: 'optional',
    // What `chat.completions.stream` and `.parse` of OpenAI's clients made of the content.
    parsed: 'optional',
  },
  within: { content: PART, tool_calls: CALL },
};

/**
 * True if two messages in the form of OpenAI's chat API say the same: an answer, and what a client sent back of it in
 * its next request. They may differ only as the tables above allow.
 */
export const sameMessage = (a: WideJson, b: WideJson): boolean => sameValue(a, b, MESSAGE);

const sameValue = (a: WideJson, b: WideJson, shape: Shape): boolean => {
  if (a === b) return true;
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, i) => sameValue(item, b[i] as WideJson, shape));
  return isJsonObject(a) && isJsonObject(b) && sameFields(a, b, shape);
};

const sameFields = (a: WideJsonObject, b: WideJsonObject, { rules, within }: Shape): boolean => {
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const x = own(a, name) ?? null;
    const y = own(b, name) ?? null;
    if (!sameByRule(x, y, own(rules, name)) && !sameValue(x, y, own(within, name) ?? PLAIN)) return false;
  }
  return true;
};

const sameByRule = (a: WideJson, b: WideJson, rule: Rule | undefined): boolean => {
  if (rule === undefined) return false;
  if (rule === 'optional') return saysNothing(a) || saysNothing(b);
  if (saysNothing(a) && saysNothing(b)) return true;
  return rule === 'id' && isJsonObject(a) && isJsonObject(b) && isText(a['id']) && a['id'] === b['id'];
};

const own = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

const isText = (value: WideJson | undefined): boolean => typeof value === 'string';

const saysNothing = (value: WideJson): boolean => {
  if (value === null || value === '') return true;
  if (isList(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
};
