import fc from 'fast-check';
import { readExactJson, type ExactJson, type StreamNode } from '../src/index.ts';

const text = fc.string({ unit: 'binary', maxLength: 12 });

/** JSON texts as they may stand in a log, with numbers, escapes and keys of any kind. */
export const jsonTexts: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      'null',
      'true',
      'false',
      '0',
      '-0',
      '1.0',
      '-0.0',
      '1e5',
      '1E-7',
      '"\\ud83d"',
      '{"seq":1,"a":2}',
    ),
    fc.bigInt().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    text.map((value) => JSON.stringify(value)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(' , ')}]`),
    fc
      .array(
        fc.tuple(fc.oneof(text, fc.constantFrom('__proto__', 'seq', 'API_key', '10', 'role')), tie('value')),
        {
          maxLength: 4,
        },
      )
      .map((pairs) => `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`),
  ),
})).value;

export const exactValues: fc.Arbitrary<ExactJson> = jsonTexts.map((value) => readExactJson(value));

const role = fc.constantFrom('user', ' user ', 'assistant', 'system', 'tool', null, 7, 'User');

const message: fc.Arbitrary<ExactJson> = fc.record(
  {
    role,
    content: fc.oneof(text, exactValues),
    text,
    name: fc.oneof(text, exactValues),
    tool_calls: exactValues,
  },
  { requiredKeys: [] },
);

/** Nodes of every kind, with and without a turn, a task and an id. */
export const streamNodes: fc.Arbitrary<readonly StreamNode[]> = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 4, arbitrary: fc.constant('message') },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          'tool_call',
          'lifecycle',
          'guardrail',
          'task_event',
          'subagent',
          '__proto__',
          'k',
        ),
      },
    ),
    turn: fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: -2, max: 6 }) },
      { weight: 1, arbitrary: exactValues },
    ),
    payload: fc.oneof({ weight: 4, arbitrary: message }, { weight: 1, arbitrary: exactValues }),
    id: fc.constant(null),
  }),
  { maxLength: 14 },
);
