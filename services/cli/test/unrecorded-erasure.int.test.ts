import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runStemma } from './run-stemma.ts';

it('verify takes a history for erased only if the log says so, and names one that merely lost its key', async () => {
  const home = mkdtempSync(join(tmpdir(), 'stemma-unrecorded-'));
  const run = (...args: string[]) => runStemma([...args, '--home', home]);
  const sealedSaid = async (): Promise<unknown> => {
    const { stdout } = await run('verify', '--json');
    return (JSON.parse(stdout) as { sealed: string[] }).sealed.length;
  };
  try {
    for (const name of ['lost', 'asked']) {
      const file = join(home, '..', `${name}-${process.pid}.json`);
      writeFileSync(file, JSON.stringify([{ role: 'user', content: 'hi' }]));
      expect(await run('import', file, '--history', name, '--erasable')).toMatchObject({ code: 0 });
      rmSync(file);
      if (name === 'lost') {
        const keys = join(home, 'keys/histories');
        const [key = ''] = readdirSync(keys).filter((each) => each.endsWith('.key'));
        // As if it had been erased, of which the log knows nothing.
        renameSync(join(keys, key), join(keys, key.replace(/\.key$/, '.erased')));
      } else expect(await run('erase', name, '--yes', '--notes', 'asked')).toMatchObject({ code: 0 });
      expect(await sealedSaid()).toBe(1);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}, 60_000);
