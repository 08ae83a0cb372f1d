import { expect, test } from 'vitest';
import { boundsOf, callsWithin, putDown, toolCallsIn, type CallOfRun } from '../../src/workspace/put-down.ts';

const address = (attemptId: string) => ({ history: 'h', branchId: 0, attemptId });
const call = (id: string, at: number, more: Partial<CallOfRun> = {}): CallOfRun => ({
  address: address(id),
  at,
  answeredAt: at + 50,
  endedAt: at + 60,
  nextAt: at + 100,
  hasLed: false,
  toolCalls: [],
  ...more,
});
const tool = (id: string, ...texts: string[]) => ({ id, name: `tool-${id}`, texts });

/** Three calls, one after the other; their tools run from 60 to 100, and from 160 to 200. */
const CALLS = [call('c1', 0), call('c2', 100), call('c3', 200, { nextAt: null })];
const idsOf = (calls: readonly CallOfRun[]) => calls.map((each) => each.address.attemptId);

test('only calls whose tools may have run in a window are asked', () => {
  expect(idsOf(callsWithin({ since: 101, endedAt: 210 }, CALLS))).toEqual(['c2']);
  // A look that lasted until the next answer was there may show what its tools did.
  expect(idsOf(callsWithin({ since: 101, endedAt: 255 }, CALLS))).toEqual(['c2', 'c3']);
  expect(idsOf(callsWithin({ since: 0, endedAt: 40 }, CALLS))).toEqual([]);
  expect(boundsOf({ since: 101, endedAt: 210 }, CALLS)).toEqual({
    from: address('c2'),
    until: address('c3'),
  });
  expect(boundsOf({ since: 201, endedAt: 900 }, CALLS)).toEqual({ from: address('c3'), until: null });
});

test('a change is put down to the tool call that names the file, else to the only one, else to none', () => {
  const made = [
    call('c1', 0, { toolCalls: [tool('a', 'src/a.ts', 'text of it'), tool('b', 'cat ./src/b.ts; rm x')] }),
  ];
  const causeOf = putDown(made, '/project');
  const by = (why: string, id: string, of = 1) => ({
    ...{ why, call: address('c1'), toolCall: id, tool: `tool-${id}`, of },
  });
  expect(causeOf('src/a.ts')).toEqual(by('argument', 'a'));
  expect(causeOf('src/b.ts')).toEqual(by('argument', 'b'));
  expect(causeOf('x')).toEqual(by('argument', 'b'));
  // It is the end of one name, and the beginning of another.
  const none = { why: 'none', call: null, toolCall: null, tool: null, of: 2 };
  expect([causeOf('a.ts'), causeOf('src/a')]).toEqual([none, none]);
  const [only] = [putDown([call('c1', 0, { toolCalls: [tool('a', 'make')] })], '/project')];
  expect(only('dist/x.js')).toEqual(by('only', 'a'));
  expect(putDown([], '/project')('x')).toEqual({ ...none, of: 0 });
  const twice = [call('c1', 0, { toolCalls: [tool('a', 'edit /project/x'), tool('b', 'edit /project/x.')] })];
  expect(putDown(twice, '/project')('x')).toEqual(by('argument', 'b', 2));
  expect(putDown(twice, '/home')('x')).toEqual(none);
});

test('what an agent changed that a tool started is put down to its own tools', () => {
  const parent = call('c1', 0, { hasLed: true, toolCalls: [tool('task', 'mend it')] });
  const child = call('c2', 10, { toolCalls: [tool('write', 'something')] });
  expect(putDown([parent, child], '/project')('a')).toMatchObject({ why: 'only', toolCall: 'write' });
  expect(putDown([parent], '/project')('a')).toMatchObject({ why: 'only', toolCall: 'task' });
});

test('the arguments of tool calls are read whatever they are', () => {
  const chat = (id: string, said: unknown) => ({ id, function: { name: 'f', arguments: said } });
  const answer = {
    tool_calls: [
      chat('1', '{"path":"a","edits":[{"file":"b"}]}'),
      chat('2', 'no JSON'),
      { id: '3', custom: { name: 'g', input: 'raw' } },
      'nothing',
    ],
  };
  expect(toolCallsIn(answer as never)).toEqual([
    { id: '1', name: 'f', texts: ['a', 'b'] },
    { id: '2', name: 'f', texts: ['no JSON'] },
    { id: '3', name: 'g', texts: ['raw'] },
  ]);
  expect([toolCallsIn(null), toolCallsIn({})]).toEqual([[], []]);
});
