import type { WideJson } from '@stemma/canonical';
import fc from 'fast-check';

const text = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('', '10', '😀', '\u2028', '{"a":1}'));
const key = fc.oneof(
  fc.constantFrom(
    'type',
    'text',
    'id',
    '10',
    '9',
    'before',
    'function',
    'items',
    'tool_calls',
    'content',
    'role',
  ),
  fc.string({ maxLength: 4 }).filter((each) => !['__proto__', 'constructor', 'prototype'].includes(each)),
);
export const { json } = fc.letrec<{ json: WideJson }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(key, tie('json'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

/** A record with all, or all but some, of its fields, and now and then some that it should not have. */
const odd = (fields: { [name: string]: fc.Arbitrary<WideJson> }): fc.Arbitrary<WideJson> => {
  const whole = fc.record(fields, { noNullPrototype: true });
  const some = fc.record(fields, { requiredKeys: [], noNullPrototype: true });
  const besides = fc.dictionary(key, json, { maxKeys: 2, noNullPrototype: true });
  const more = fc.tuple(besides, whole).map((pair): object => Object.assign({}, ...pair) as object);
  return fc.oneof<fc.MaybeWeightedArbitrary<object>[]>(
    { weight: 4, arbitrary: whole },
    { weight: 1, arbitrary: some },
    { weight: 1, arbitrary: more },
  ) as fc.Arbitrary<WideJson>;
};

const input = fc.dictionary(key, json, { maxKeys: 3, noNullPrototype: true });
const textBlock = odd({ type: fc.constant('text'), text });
const resultBlock = odd({
  type: fc.constant('tool_result'),
  tool_use_id: text,
  content: fc.oneof(text, fc.array(textBlock, { maxLength: 2 })),
  is_error: fc.boolean(),
});
const block = fc.oneof(
  textBlock,
  resultBlock,
  odd({ type: fc.constant('tool_use'), id: text, name: text, input }),
  odd({ type: fc.constant('thinking'), thinking: text, signature: text }),
  odd({ type: fc.constant('image'), source: json }),
  json,
);
const geminiPart = fc.oneof(
  odd({ text }),
  odd({ text, thought: fc.boolean(), thoughtSignature: text }),
  odd({ functionCall: odd({ name: text, args: input }), thoughtSignature: text }),
  odd({ functionCall: odd({ name: text, args: input, id: text }) }),
  odd({ functionResponse: odd({ name: text, response: input }) }),
  odd({ functionResponse: odd({ name: text, response: input, id: text }) }),
  odd({ inlineData: json }),
  json,
);
/** Contents of Gemini's API, odd ones too. */
export const geminiList: fc.Arbitrary<WideJson[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom('user', 'user', 'model', 'model', 'function', undefined),
      odd({ parts: fc.oneof(fc.array(geminiPart, { maxLength: 4 }), json) }),
    )
    .map(([role, message]): WideJson => (role === undefined ? message : { ...(message as object), role })),
  { maxLength: 5 },
);

const bedrockBlock = fc.oneof(
  odd({ text }),
  odd({ toolUse: odd({ toolUseId: text, name: text, input }) }),
  odd({
    toolResult: odd({
      toolUseId: text,
      content: fc.array(fc.oneof(odd({ text }), odd({ json: input })), { maxLength: 2 }),
      status: fc.constantFrom('success', 'error'),
    }),
  }),
  odd({ reasoningContent: odd({ reasoningText: odd({ text, signature: text }) }) }),
  odd({ cachePoint: fc.constant({ type: 'default' }) }),
  json,
);
/** Messages of Bedrock's Converse, odd ones too. */
export const bedrockList: fc.Arbitrary<WideJson[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom('user', 'user', 'assistant', 'assistant', 'odd'),
      odd({ content: fc.oneof(fc.array(bedrockBlock, { maxLength: 4 }), json) }),
    )
    .map(([role, message]): WideJson => ({ ...(message as object), role })),
  { maxLength: 5 },
);

/** Messages of Ollama's and Cohere's chats, odd ones too. */
export const chatLikeList: fc.Arbitrary<WideJson[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom('user', 'assistant', 'tool', 'tool', 'system'),
      odd({
        content: text,
        tool_name: text,
        tool_calls: fc.array(
          odd({ id: text, function: odd({ name: text, arguments: fc.oneof(input, text) }) }),
          { maxLength: 3 },
        ),
      }),
    )
    .map(([role, message]): WideJson => ({ ...(message as object), role })),
  { maxLength: 6 },
);

/** Messages of Anthropic's API, odd ones too; each has a role. */
export const anthropicList: fc.Arbitrary<WideJson[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom('user', 'user', 'assistant', 'assistant', 'system'),
      odd({ content: fc.oneof(text, fc.array(block, { maxLength: 4 }), json) }),
    )
    .map(([role, message]): WideJson => ({ ...(message as object), role })),
  { maxLength: 5 },
);

const part = fc.oneof(odd({ type: fc.constantFrom('input_text', 'output_text'), text }), json);
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }), json);
/** Items of the input of OpenAI's Responses API, odd ones too. */
export const itemList: fc.Arbitrary<WideJson[]> = fc.array(
  fc.oneof(
    odd({ role: fc.constantFrom('user', 'system', 'assistant', 'tool'), content }),
    odd({ type: fc.constant('message'), role: fc.constantFrom('user', 'assistant'), content, id: text }),
    odd({ type: fc.constant('function_call'), call_id: text, name: text, arguments: text, id: text }),
    odd({ type: fc.constant('custom_tool_call'), call_id: text, name: text, input: text }),
    odd({
      type: fc.constantFrom('function_call_output', 'custom_tool_call_output', 'computer_call_output'),
      call_id: text,
      output: fc.oneof(text, json),
    }),
    odd({ type: fc.constantFrom('reasoning', 'item_reference', 'mcp_approval_response'), id: text }),
    json,
  ),
  { maxLength: 6 },
);
