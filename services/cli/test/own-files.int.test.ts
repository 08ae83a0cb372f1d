import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runStemma, temporaryFolder } from './run-stemma.ts';

const SAMPLE = join(import.meta.dirname, '../../../samples/harbour-tram.chat.json');

test('no command writes its answer over a file of the home, or into a folder of it', async () => {
  using folder = temporaryFolder();
  const home = join(folder.path, 'home');
  const run = (...args: string[]) => runStemma([...args, '--home', home]);
  const segment = join(home, 'log/0/0000000000000000.seg');
  expect(await run('import', SAMPLE, '--history', 'tram')).toMatchObject({ code: 0 });
  expect(await run('checkpoint')).toMatchObject({ code: 0 });
  const before = readFileSync(segment);
  const link = join(folder.path, 'link');
  symlinkSync(join(home, 'log'), link);
  const places = [
    segment,
    join(link, '0/0000000000000000.seg'),
    join(home, 'checkpoint.key'),
    join(home, 'contents', 'new'),
    join(home, 'rows', 'none', 'new'),
    home,
  ];
  for (const place of places)
    for (const command of [
      ['checkpoint', '--out', place],
      ['checkpoint', 'prove', '--frame', 'tram@1', '--out', place],
      ['interventions', 'tram', '--output', place],
      ['compare', 'tram', '@c1', '@c2', '--html', place],
    ])
      expect(await run(...command), command.join(' ')).toMatchObject({
        code: 64,
        stderr: expect.stringContaining('is a place of the home') as string,
      });
  expect(readFileSync(segment).equals(before)).toBe(true);
  expect(existsSync(join(home, 'contents', 'new'))).toBe(false);
  for (const place of [join(home, 'monday.checkpoint'), join(folder.path, 'home.checkpoint')])
    expect(await run('checkpoint', '--out', place)).toMatchObject({ code: 0 });
  expect(await run('verify')).toMatchObject({ code: 0 });
});
