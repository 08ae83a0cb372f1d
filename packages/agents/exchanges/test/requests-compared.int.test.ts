import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRecording, says, system, user, type Message } from './recorded-agent.ts';

let directory: string;
let home: Home;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-requests-'));
  home = await openHome({ directory, create: true });
});
afterEach(async () => {
  await home.close();
  rmSync(directory, { recursive: true });
});

const tool = (name: string, description = 'does it') => ({
  ...{ type: 'function', function: { name, description, parameters: { type: 'object' } } },
});
const LIST: readonly Message[] = [
  system('You help.'),
  user('one'),
  says('a'),
  user('two'),
  says('b'),
  user('three'),
];

/** Three calls: the second has another tool and a changed one, the third another temperature. */
const record = async (): Promise<string> => {
  const { call } = openRecording(home, { name: 'talk' });
  await call(LIST.slice(0, 2), says('a'), { tools: [tool('look')] });
  const tools = [tool('look', 'does more'), tool('find')];
  await call(LIST.slice(0, 4), says('b'), { tools });
  const last = await call(LIST, says('c'), { tools, parameters: { temperature: 0.5 } });
  return last.branch.history;
};

const LOOK = {
  what: 'tool',
  name: 'look',
  change: 'changed',
  fields: [{ path: 'description', before: 'does it', after: 'does more' }],
};
const FIND = { what: 'tool', name: 'find', change: 'added', fields: [] };
const TEMPERATURE = {
  what: 'parameter',
  name: 'temperature',
  change: 'added',
  fields: [{ path: '', before: undefined, after: 0.5 }],
};

test('a comparison names the tools and parameters that the newest calls on both ways do not share', async () => {
  const branch = await home.find(await record());
  const of = async (a: string, b: string) => (await home.queries.audit.compare(branch, a, b)).request;
  expect(await of('@c1', '@c3')).toEqual([LOOK, FIND, TEMPERATURE]);
  expect(await of('@c2', 'main')).toEqual([TEMPERATURE]);
  expect(await of('@c3', '@c3')).toEqual([]);
  // Of a fork, the newest call is that of its ancestor.
  const forked = await home.submit({
    ...{ id: 'fork', history: branch.history, branchId: branch.branchId, by: { actor: 'ann' } },
    steps: [{ op: 'fork', at: { branchId: branch.branchId, seq: (await home.position(branch, '@c2')).seq } }],
  });
  expect(await of(String(forked.branchId), 'main')).toEqual([TEMPERATURE]);
  // A history without calls has nothing to compare.
  const start = { op: 'start', name: 'empty' } as const;
  await home.submit({ id: 's', history: 'empty', branchId: 0, by: { actor: 'ann' }, steps: [start] });
  expect(await of('@c3', 'empty:main')).toBe(null);
});

test('the life of a node names the tools and parameters that changed with the call that first showed it', async () => {
  const branch = await home.find(await record());
  const position = await home.position(branch);
  const at = async (words: string) => {
    const { ids } = await home.read.select(branch, `@t0 .cb:contains('${words}')`);
    return (await home.queries.causes.why(position, ids[0] ?? '')).request;
  };
  expect(await at('two')).toEqual({ first: [LOOK, FIND], gone: null });
  expect(await at('three')).toEqual({ first: [TEMPERATURE], gone: null });
  // The first call has none before it.
  expect(await at('one')).toEqual({ first: null, gone: null });
});
