import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openEmbeddedLog } from '../src/index.ts';
import { makeDirectory, removeDirectories, runChild } from './kit.ts';

afterEach(removeDirectories);

describe('a process that ends while a thread is inside of a transaction', () => {
  it('waits until the thread has come out', async () => {
    const directory = makeDirectory();
    const child = runChild('ending.ts', [directory, 'leaves']);
    expect(await child.ended).toBe(7);
    expect(existsSync(join(directory, 'left'))).toBe(true);
  });

  it('ends with its exit code all the same if the thread does not come out', async () => {
    const child = runChild('ending.ts', [makeDirectory(), 'stuck']);
    expect(await child.ended).toBe(7);
    expect(child.lines()).toEqual(['inside']);
  });

  it('ends at once, with its exit code, if nothing may be waited for', async () => {
    const child = runChild('ending.ts', [makeDirectory(), 'now']);
    expect(await child.ended).toBe(70);
    expect(child.lines()).toEqual(['inside']);
  });

  it('leaves a log that others go on to write, wherever its appends were', async () => {
    const directory = makeDirectory();
    for (let round = 0; round < 4; round++) {
      const child = runChild('leaving.ts', [directory, String(3 + round * 7)]);
      expect(await child.ended).toBe(7);
    }
    const log = await openEmbeddedLog({ directory });
    expect(await log.append(0, [{ key: 'k', bytes: Buffer.from('after') }])).toHaveLength(1);
    await log.close();
  });
});
