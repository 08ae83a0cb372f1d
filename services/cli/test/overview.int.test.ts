import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runStemma, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
const home = join(folder.path, 'home');

const call = (id: string, name: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{"order": 7}' } }],
});
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
const said = (role: string, content: string) => ({ role, content });

const TRIALS: Readonly<Record<string, readonly object[]>> = {
  'refund-trial-2': [
    said('user', 'I want my money back for the blue kettle.'),
    call('a', 'lookup'),
    result('a', 'order 7: kettle'),
    call('b', 'refund'),
    result('b', 'Error: not allowed'),
    said('assistant', 'I cannot refund it.'),
  ],
  'refund-trial-10': [
    said('user', 'I want my money back for the blue kettle.'),
    call('a', 'lookup'),
    result('a', 'order 7: kettle'),
    call('b', 'transfer'),
    result('b', 'done'),
    said('assistant', 'A person takes over.'),
  ],
  'lost-parcel': [said('user', 'Where is my parcel?'), said('assistant', 'On its way.')],
};

beforeAll(async () => {
  for (const [name, messages] of Object.entries(TRIALS)) {
    const file = join(folder.path, `${name}.json`);
    writeFileSync(file, JSON.stringify(messages));
    expect(await runStemma(['import', file, '--home', home])).toMatchObject({ code: 0 });
  }
});

type Row = {
  readonly history: string;
  readonly name: string;
  readonly group: string | null;
  readonly labels: object;
  readonly failures: readonly { readonly name: string; readonly label: string }[];
  readonly parts: object | null;
  readonly isFirst: boolean;
};

const overview = async (...words: readonly string[]): Promise<readonly Row[]> => {
  const { stdout, stderr } = await runStemma(['histories', ...words, '--json', '--home', home]);
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { rows: Row[] }).rows;
};
const namesOf = (rows: readonly Row[]): readonly string[] => rows.map(({ name }) => name);

test('histories are found by tools, failures, counts, and texts that stand in them', async () => {
  expect(namesOf(await overview('tool:refund', 'failed:true'))).toEqual(['refund-trial-2']);
  expect(namesOf(await overview('tool:lookup', 'failed:true'))).toEqual([]);
  expect(namesOf(await overview('calls:>0 -tool:lookup'))).toEqual(['lost-parcel']);
  expect(namesOf(await overview('calls:<3', '--sort', 'name'))).toEqual(['lost-parcel']);
  expect(namesOf(await overview('"blue kettle"', '--sort', 'name'))).toEqual([
    'refund-trial-2',
    'refund-trial-10',
  ]);
  expect(namesOf(await overview('refund', 'tools:2', '--sort', '-name'))).toEqual([
    'refund-trial-10',
    'refund-trial-2',
  ]);
  expect(namesOf(await overview('ended:answer', 'until:2026-01-01'))).toEqual([]);
});

test('a failed tool is shown with the call that asked for it, and trials with where they part', async () => {
  const rows = await overview('--group', 'task', '--sort', 'name');
  expect(rows.map(({ name, group, isFirst, parts }) => ({ name, group, isFirst, parts }))).toEqual([
    { name: 'lost-parcel', group: null, isFirst: false, parts: null },
    { name: 'refund-trial-2', group: 'refund', isFirst: true, parts: null },
    {
      name: 'refund-trial-10',
      group: 'refund',
      isFirst: false,
      parts: { label: '@c2', here: 'transfer', there: 'refund' },
    },
  ]);
  expect(rows[1]?.failures).toEqual([expect.objectContaining({ name: 'refund', label: '@c2' })]);
});

test('a label is recorded, shown, filtered by, and taken away', async () => {
  const label = (...words: readonly string[]) =>
    runStemma(['label', ...words, '--home', home, '--actor', 'ann']);
  expect(await label('lost-parcel', 'task=parcel', 'owner=desk 2')).toMatchObject({ code: 0 });
  expect((await label('lost-parcel')).stdout).toBe('LABEL  VALUE\nowner  desk 2\ntask   parcel\n');
  expect(namesOf(await overview('label:task=par*'))).toEqual(['lost-parcel']);
  expect(namesOf(await overview('label:owner'))).toEqual(['lost-parcel']);
  expect((await overview('label:owner'))[0]?.labels).toEqual({ owner: 'desk 2', task: 'parcel' });
  expect((await runStemma(['interventions', 'lost-parcel', '--home', home])).stdout).toContain(
    'task=parcel, owner=desk 2',
  );
  await label('lost-parcel', 'owner=');
  expect(namesOf(await overview('label:owner'))).toEqual([]);
  expect(await label('lost-parcel', 'owner=two\nlines')).toMatchObject({ code: 64 });
  expect(await label('lost-parcel', 'nothing')).toMatchObject({ code: 64 });
  const { stdout } = await runStemma(['replay', '--verify', '--home', home]);
  expect(stdout).toContain('0 differences');
});

test('grep looks for texts in the histories that its filters let through', async () => {
  const grep = async (...words: readonly string[]) =>
    (
      JSON.parse((await runStemma(['grep', ...words, '--json', '--home', home])).stdout) as {
        hits: readonly { name: string }[];
      }
    ).hits.map(({ name }) => name);
  expect(new Set(await grep('kettle'))).toEqual(new Set(['refund-trial-2', 'refund-trial-10']));
  expect(new Set(await grep('kettle', 'tool:transfer'))).toEqual(new Set(['refund-trial-10']));
  expect(await grep('kettle', 'since:2100-01-01')).toEqual([]);
  expect(await runStemma(['grep', 'tool:transfer', '--home', home])).toMatchObject({ code: 64 });
});

test('two trials are compared by what was decided, call by call', async () => {
  const compared = await runStemma([
    ...['compare', 'refund-trial-2', 'refund-trial-10', '--decisions', '--json', '--home', home],
  ]);
  expect(compared.code).toBe(0);
  type Decided = {
    readonly label: string;
    readonly what: string;
    readonly calls: readonly { failed: boolean }[];
  };
  const found = JSON.parse(compared.stdout) as {
    counts: object;
    first: number;
    pairs: readonly { readonly how: string; readonly a: Decided | null; readonly b: Decided | null }[];
  };
  expect(found.pairs.map(({ how, a, b }) => [how, a?.what, b?.what])).toEqual([
    ['same', 'lookup', 'lookup'],
    ['tool', 'refund', 'transfer'],
    ['words', 'answer', 'answer'],
  ]);
  expect(found.first).toBe(1);
  expect(found.counts).toEqual({ same: 1, words: 1, arguments: 0, tool: 1, 'only-a': 0, 'only-b': 0 });
  expect(found.pairs[1]?.a).toMatchObject({ label: '@c2', calls: [{ failed: true, input: '{"order":7}' }] });
  expect(
    await runStemma(['compare', 'lost-parcel', 'lost-parcel', '--decisions', '--home', home]),
  ).toMatchObject({ code: 0 });
});
