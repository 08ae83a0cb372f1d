import fc from 'fast-check';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Message = { [key: string]: Json };

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\u0000', '😀', '\u2028', '{"a":1}'),
);
const key = fc.oneof(
  fc.constantFrom(
    'type',
    'text',
    'id',
    '10',
    '9',
    'data_message',
    'data_continues',
    'content',
    'role',
    'name',
    'toString',
  ),
  fc.string({ maxLength: 6 }).filter((each) => !['__proto__', 'constructor', 'prototype'].includes(each)),
);
const number = fc
  .oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21);
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(key, tie('json'), { maxKeys: 3 }),
  ),
}));
const part: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('text'), text, cache: json }),
  fc.record({ type: fc.constant('image_url'), image_url: json }),
  json,
);
const toolCall: fc.Arbitrary<Json> = fc.oneof(
  fc.record({
    id: text,
    type: fc.constant('function'),
    function: fc.record({ name: text, arguments: text }),
  }),
  json,
);
/** Any message that an `openai-chat` file may hold, odd ones too. */
export const anyMessage: fc.Arbitrary<Message> = fc
  .tuple(
    fc.constantFrom(
      'system',
      'developer',
      'user',
      'assistant',
      'assistant',
      'assistant',
      'tool',
      'tool',
      'function',
    ),
    fc.record(
      {
        content: fc.oneof(text, text, fc.constant(null), fc.array(part, { maxLength: 3 }), json),
        tool_calls: fc.oneof(fc.array(toolCall, { maxLength: 3 }), json),
        function_call: fc.oneof(fc.record({ name: text, arguments: text }), json),
        tool_call_id: fc.oneof(text, json),
        name: fc.oneof(text, json),
        refusal: json,
      },
      { requiredKeys: [] },
    ),
    fc.dictionary(key, json, { maxKeys: 2 }),
  )
  .map(([role, message, besides]): Message => ({ ...besides, ...message, role }));
