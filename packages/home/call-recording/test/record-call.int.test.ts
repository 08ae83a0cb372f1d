import { canonicalJson, type WideJson } from '@stemma/canonical';
import { toOpenAIMessages } from '@stemma/importers';
import { sized } from '@stemma/test-kit';
import { type Home, open, start, temporaryHome } from '@stemma/test-kit/home';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(6, 15));

const shown = async (home: Home, ref: string): Promise<WideJson> => {
  const view = await home.read.view(await home.position(await home.find('a'), ref));
  return toOpenAIMessages(view.tree, view.payloads, view.thread);
};

const message = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      role: fc.constantFrom('user', 'assistant'),
      content: fc.constantFrom('a', 'b', 'c', 'd'),
    }),
  },
  fc.record({
    role: fc.constant('tool'),
    tool_call_id: fc.constantFrom('x', 'y'),
    content: fc.constantFrom('1', '2'),
  }),
  fc.constant({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }],
  }),
  fc.record({
    role: fc.constant('user'),
    content: fc.constant([
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: 'data:,' } },
    ]),
  }),
);
const system = fc.record({ role: fc.constant('system'), content: fc.constantFrom('Be kind.', 'Be brief.') });
const call = fc
  .tuple(fc.array(system, { maxLength: 2 }), fc.array(message, { maxLength: 6 }))
  .map(([first, rest]) => [...first, ...rest] as WideJson[]);

test(
  'whatever an agent changes in its message list between calls, each snapshot has the list of its call',
  { tags: ['context-tree§4:provider-thread'] },
  async () => {
    using at = temporaryHome();
    const home = await open(at.directory);
    await start(home, 'a');
    const branchRef = await home.find('a');
    let cycle = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 6 }), async (calls) => {
        for (const messages of calls) {
          cycle += 1;
          await home.calls.recordCall(branchRef, {
            id: `call-${cycle}`,
            by: { recorder: 'agent' },
            messages,
          });
          expect(canonicalJson(await shown(home, `@c${cycle}`))).toBe(canonicalJson(messages));
        }
      }),
      { numRuns: RUNS },
    );
    await home.close();
  },
);

test('new messages at the end of the list are inserted, messages missing from it are removed, and a rewritten system message is replaced', async () => {
  using at = temporaryHome();
  const home = await open(at.directory);
  await start(home, 'a');
  const branchRef = await home.find('a');
  const say = (role: string, content: string): WideJson => ({ role, content });
  const [rules, ask, reply, more] = [
    say('system', 'Be kind.'),
    say('user', 'Hello'),
    say('assistant', 'Hi'),
    say('user', 'More'),
  ];
  const record = async (id: string, ...messages: WideJson[]) => {
    const { kept, replaced, removed, inserted, repeated } = await home.calls.recordCall(branchRef, {
      id,
      by: { recorder: 'agent' },
      messages,
    });
    return { kept, replaced, removed, inserted, repeated };
  };
  const none = { kept: 0, replaced: 0, removed: 0, inserted: 0, repeated: false };
  expect(await record('1', rules, ask)).toEqual({ ...none, inserted: 2 });
  expect(await record('2', rules, ask, reply, more)).toEqual({ ...none, kept: 2, inserted: 2 });
  expect(await record('2', rules, ask, reply, more)).toEqual({
    ...none,
    kept: 2,
    inserted: 2,
    repeated: true,
  });
  expect(await record('3', rules, ask, more)).toEqual({ ...none, kept: 3, removed: 1 });
  expect(await record('4', say('system', 'Be brief.'), ask, more)).toEqual({ ...none, kept: 2, replaced: 1 });
  expect(await record('5', say('system', 'Be brief.'), ask, more)).toEqual({ ...none, kept: 3 });
  await expect(record('5', ask)).rejects.toMatchObject({ code: 'E_COMMAND_REUSED' });
  await expect(record('6', 'no message')).rejects.toMatchObject({ code: 'E_INPUT_SHAPE' });
  await expect(record('7', say('robot', 'x'))).rejects.toMatchObject({ code: 'E_ROLE_UNKNOWN' });
  const { verdicts, steps } = await home.queries.questions.cache(branchRef);
  expect(verdicts).toEqual({ append: 2, rewind: 0, break: 2 });
  expect(steps.flatMap(({ broken }) => (broken === null ? [] : [[broken.what, broken.cause]]))).toEqual([
    ['removed', { kind: 'mutation', op: 'remove', by: null }],
    ['changed', { kind: 'mutation', op: 'replace', by: null }],
  ]);
  await home.close();
});
