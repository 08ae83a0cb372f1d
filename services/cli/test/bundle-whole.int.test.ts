import { sha256Hex } from '@stemma/canonical';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { otlpFile } from './export/files.ts';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder, type Run } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const at = (name: string): string => join(folder.path, name);
keepHomeOpen(at('home'));
const run = (home: string, ...args: readonly string[]): Promise<Run> =>
  runStemma([...args, '--home', at(home)]);
const json = (home: string, ...args: readonly string[]): Promise<unknown> =>
  stemmaJson([...args, '--json', '--home', at(home)]);

type Branch = { readonly branch: string };
type Listed = readonly { readonly history: string; readonly branches: readonly Branch[] }[];
type Snapshot = { readonly label: string; readonly treeHash: string };
type Imported = { readonly imported: readonly { readonly repeated: boolean; readonly history: string }[] };

beforeAll(async () => {
  writeFileSync(at('spans.jsonl'), otlpFile());
  await json('home', 'import', at('spans.jsonl'), '--history', 'spans');
  // Above 256 KiB a content lies beside the log.
  writeFileSync(at('large.json'), JSON.stringify([{ role: 'user', content: 'tide '.repeat(80_000) }]));
  await json('home', 'import', at('large.json'), '--history', 'other');
  const large = readFileSync(at('large.json'), 'utf8').slice(30, 400_000);
  await json('home', 'insert', 'spans', '--role', 'user', '--content', large);
  await json('home', 'commit', 'spans');
  await json('home', 'fork', 'spans', '@c1', '--name', 'what-if', '--notes', 'another way');
  await json('home', 'inject', 'spans:what-if', 'Ask the pilot.', '--notes', 'rule 4');
  await json('home', 'save', 'spans', 'before', '@c1');
  await json('home', 'bundle', 'spans', '--whole', '-o', at('spans.stemma'));
});

/** All that a home has of its histories, but for where it is. */
const contentsOf = async (home: string): Promise<unknown> => {
  const histories = (await json(home, 'histories')) as Listed;
  const found: unknown[] = [];
  for (const { history, branches } of histories) {
    if (history !== (await spansIn('home'))) continue;
    found.push(await json(home, 'branches', history), (await run(home, 'log', history, '--json')).stdout);
    for (const { branch } of branches) {
      const snapshots = (await json(home, 'snapshots', branch)) as readonly Snapshot[];
      found.push(
        snapshots,
        await json(home, 'calls', branch),
        (await run(home, 'thread', branch, '@*')).stdout,
      );
      for (const { label } of snapshots)
        found.push(sha256Hex((await run(home, 'export', branch, label)).stdout));
    }
  }
  return found;
};

const spansIn = async (home: string): Promise<string> => {
  const histories = (await json(home, 'histories')) as readonly {
    readonly name: string;
    readonly history: string;
  }[];
  return histories.find(({ name }) => name === 'spans')?.history ?? '';
};

describe('a bundle of whole histories', () => {
  test('gives another home the same ids, branches, calls and hashes, and every snapshot byte for byte', async () => {
    const { code, stderr } = await run('other', 'import', at('spans.stemma'), '--dry-run');
    expect([code, stderr, existsSync(at('other'))]).toEqual([0, '', false]);
    const first = (await json('other', 'import', at('spans.stemma'))) as Imported;
    expect(first).toMatchObject({
      imported: [{ format: 'stemma', name: 'spans', repeated: false }],
      refused: [],
    });
    expect(await contentsOf('other')).toEqual(await contentsOf('home'));
    expect((await run('other', 'verify', '--rows')).stdout).toContain('no problems');
    expect((await json('other', 'histories')) as Listed).toHaveLength(1);
  });

  test('changes nothing when it is imported once more, and adds what came since', async () => {
    const before = (await run('other', 'log', 'spans', '--json')).stdout;
    expect(((await json('other', 'import', at('spans.stemma'))) as Imported).imported[0]?.repeated).toBe(
      true,
    );
    expect((await run('other', 'log', 'spans', '--json')).stdout).toBe(before);
    await json('home', 'insert', 'spans', '--role', 'user', '--content', 'later');
    await json('home', 'commit', 'spans');
    await json('home', 'bundle', 'spans', '--whole', '-o', at('grown.stemma'));
    expect(((await json('other', 'import', at('grown.stemma'))) as Imported).imported[0]?.repeated).toBe(
      false,
    );
    expect((await run('other', 'log', 'spans', '--json')).stdout).toBe(
      (await run('home', 'log', 'spans', '--json')).stdout,
    );
    // An older one has nothing that the home lacks.
    expect(((await json('other', 'import', at('spans.stemma'))) as Imported).imported[0]?.repeated).toBe(
      true,
    );
  });

  test('is refused where its history goes on otherwise, and nothing is written', async () => {
    await json('third', 'import', at('spans.stemma'));
    await json('third', 'insert', 'spans', '--role', 'user', '--content', 'elsewhere');
    const before = (await run('third', 'log', 'spans', '--json')).stdout;
    const refused = await run('third', 'import', at('grown.stemma'));
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('E_CONFLICT')]);
    expect((await run('third', 'log', 'spans', '--json')).stdout).toBe(before);
  });

  test('is checked without a home, and answers a rerun', async () => {
    const checked = await run('none', 'verify', at('spans.stemma'));
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('no problems')]);
    expect((await run('none', 'rerun', at('spans.stemma'), '--', 'true')).stderr).not.toContain('E_BUNDLE');
    expect(existsSync(at('none'))).toBe(false);
  });

  test('that is damaged, cut off, longer, or says another hash than it has is refused with a code, everywhere', async () => {
    const whole = readFileSync(at('grown.stemma'));
    const snapshots = (await json('home', 'snapshots', 'spans')) as readonly Snapshot[];
    const altered = Buffer.from(whole);
    const hash = Buffer.from(snapshots.at(-1)?.treeHash ?? '', 'hex');
    const place = altered.lastIndexOf(hash);
    expect([hash.length, place]).toEqual([32, expect.any(Number)]);
    expect(place).toBeGreaterThan(0);
    altered[place] = (altered[place] ?? 0) ^ 1;
    const body = altered.subarray(0, -69);
    const files = new Map<string, Buffer>([
      ['cut off', whole.subarray(0, -1)],
      ['a byte', Buffer.from(whole).fill(whole[900] === 0 ? 1 : 0, 900, 901)],
      ['longer', Buffer.concat([whole, Buffer.alloc(1000)])],
      ['twice', Buffer.concat([whole, whole])],
      ['empty', Buffer.alloc(0)],
      [
        'a tree hash that is not that of its tree',
        Buffer.concat([body, Buffer.from(`end ${sha256Hex(body)}\n`)]),
      ],
    ]);
    for (const [what, bytes] of files) {
      writeFileSync(at('bad.stemma'), bytes);
      const imported = await run('fresh', 'import', at('bad.stemma'));
      expect([what, imported.code, imported.stderr.includes('(E_BUNDLE_DAMAGED)')]).toEqual([what, 5, true]);
      expect([what, (await run('none', 'verify', at('bad.stemma'))).code]).toEqual([what, 5]);
    }
    expect(await json('fresh', 'histories')).toEqual([]);
    expect((await run('fresh', 'import', at('nowhere.stemma'))).stderr).toContain('E_BUNDLE_NOT_FOUND');
    const named = await run('fresh', 'import', at('spans.stemma'), '--history', 'mine');
    expect([named.code, named.stderr]).toEqual([64, expect.stringContaining('leave out --history')]);
  });

  test('takes no branch and no run, and none of a history that can be erased', async () => {
    for (const words of [['spans:what-if'], ['spans', '--run', 'r']])
      expect((await run('home', 'bundle', ...words, '--whole', '-o', at('x.stemma'))).code).toBe(64);
    await json('home', 'start', '--name', 'private', '--erasable');
    const refused = await run('home', 'bundle', 'private', '--whole', '-o', at('x.stemma'));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('E_BUNDLE_ERASABLE')]);
    expect(existsSync(at('x.stemma'))).toBe(false);
  });
});
