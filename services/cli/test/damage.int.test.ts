import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const conversation = (about: string): string =>
  JSON.stringify([
    { role: 'user', content: `Tell me about ${about}.` },
    { role: 'assistant', content: `${about}: a long story.` },
    { role: 'user', content: 'Go on.' },
    { role: 'assistant', content: 'That was it.' },
  ]);

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test('one flipped byte is found, its history and seq are named, nothing behind it is served, and salvage goes on from before it [record §2: damaged, §2: verify, §2: salvage]', async () => {
  using folder = temporaryFolder();
  const home = join(folder.path, 'home');
  const at = ['--home', home];
  for (const name of ['alpha', 'beta']) {
    writeFileSync(join(folder.path, `${name}.json`), conversation(name));
    await stemmaJson(['import', join(folder.path, `${name}.json`), '--history', name, ...at]);
  }
  const history = ((await stemmaJson(['histories', ...at])) as { name: string; history: string }[]).find(
    ({ name }) => name === 'beta',
  )?.history;
  const segment = filesIn(join(home, 'log')).find((file) =>
    readFileSync(file).includes('beta: a long story.'),
  );
  expect(segment).toBeDefined();
  const bytes = readFileSync(segment!);
  const place = bytes.indexOf('beta: a long story.');
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  writeFileSync(segment!, bytes);

  const verify = await runStemma(['verify', '--json', ...at]);
  expect(verify.code).toBe(5);
  expect(JSON.parse(verify.stdout)).toMatchObject({ ok: false, problems: [{ history, seq: 1 }] });

  // Rows built anew know nothing behind the damage, and nothing is written behind it.
  const replayed = await runStemma(['replay', ...at]);
  expect(replayed.code).toBe(0);
  expect(((await stemmaJson(['snapshots', 'beta', ...at])) as unknown[]).length).toBe(1);
  const refused = await runStemma(['insert', 'beta', '--content', 'more', '--json', ...at]);
  expect(refused.code).toBe(5);
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'E_HISTORY_DAMAGED' } });
  await stemmaJson(['insert', 'alpha', '--content', 'more', ...at]);

  const salvaged = (await stemmaJson(['salvage', 'beta', ...at])) as { history: string; seq: number };
  expect(salvaged.seq).toBe(0);
  const good = await runStemma(['export', 'beta', '@c1', ...at]);
  expect((await runStemma(['export', salvaged.history, '@c1', ...at])).stdout).toBe(good.stdout);
});
