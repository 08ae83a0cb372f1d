import type { Home } from '@stemma/home';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { importFile } from '../src/import-file.ts';
import { openImportRest } from '../src/import-rest.ts';

const folder = mkdtempSync(join(tmpdir(), 'stemma-import-behind-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LONG = join(folder, 'long.json');
writeFileSync(
  LONG,
  JSON.stringify(Array.from({ length: 3_000 }, () => ({ role: 'assistant', content: 'Yes.' }))),
);

/** A home whose rows have what was submitted only when they catch up. */
const slowHome = () => {
  const counts = { behind: 0, most: 0, frames: 0 };
  const home = {
    privacy: { redactText: (text: string) => text },
    submit: () => {
      counts.frames += 1;
      counts.behind += 1;
      counts.most = Math.max(counts.most, counts.behind);
      return Promise.resolve({ events: [], repeated: false });
    },
    catchUp: () => {
      counts.behind = 0;
      return Promise.resolve();
    },
  };
  return { home: home as unknown as Home, counts };
};

describe('a long conversation that is imported', () => {
  it('never goes further ahead of the rows than a writer lets it', async () => {
    const { home, counts } = slowHome();
    const { signal } = new AbortController();

    await importFile(home, LONG, { format: 'auto', name: 'long', signal });

    expect(counts.frames).toBeGreaterThanOrEqual(3_000);
    expect(counts.most).toBeLessThan(600);
  });

  it('keeps its home open, however much memory is taken: only histories that have ended leave room', async () => {
    const { home } = slowHome();
    const { signal } = new AbortController();
    let reopened = 0;
    const reopen = () => {
      reopened += 1;
      return Promise.resolve(home);
    };
    const rest = openImportRest(reopen, () => Infinity);

    await importFile(home, LONG, { format: 'auto', name: 'long', signal, rest });
    expect(reopened).toBe(0);
    await importFile(home, LONG, { format: 'auto', name: 'longer', signal, rest });
    expect(reopened).toBe(1);
  });
});
