import { historyId, importStep } from '@stemma/history';
import { openHome } from '@stemma/home';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test('histories and show say what a history was imported from, and no text of its file steers the terminal', async () => {
  const directory = join(folder.path, 'home');
  const at = ['--home', directory];
  const home = await openHome({ directory, create: true });
  const send = (id: string, steps: Parameters<typeof home.submit>[0]['steps']) =>
    home.submit({ id, history: historyId('parcel', ''), branchId: 0, by: { recorder: 'import' }, steps });
  await send('start', [{ op: 'start', name: 'parcel' }]);
  const title = 'Late\u001b[31m\u202eparcel\nforged: line';
  const summary = { calls: 2, fidelity: { reconstructed: 2 }, dropped: { ['line\u0007x']: 3 } };
  await send('imported', [importStep({ format: 'claude-code', version: '2.1.7', title, summary })]);
  await home.close();

  const imported = {
    ...{ format: 'claude-code', version: '2.1.7', title, calls: 2, fidelity: { reconstructed: 2 } },
    dropped: { 'line\u0007x': 3 },
  };
  expect(await stemmaJson(['histories', ...at])).toMatchObject([{ name: 'parcel', import: imported }]);
  expect(await stemmaJson(['show', 'parcel', ...at])).toMatchObject({ import: imported });
  const { stdout } = await runStemma(['show', 'parcel', ...at]);
  expect(stdout.split('\n').slice(1, 4)).toEqual([
    'Imported from claude-code 2.1.7 (Late\\u001b[31m\\u202eparcel\\nforged: line): 2 calls.',
    'Fidelity: 2 reconstructed.',
    'Not recorded: line\\u0007x (3).',
  ]);
  expect((await stemmaJson(['show', 'parcel', 'root', ...at])) as object).not.toHaveProperty('import');
});
