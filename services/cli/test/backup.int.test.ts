import { FAKE_SECRETS, filesHolding } from '@stemma/test-kit';
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

type Backup = { readonly contents: number; readonly added: { readonly contents: number } };

const contentFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[\da-f]{62}$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));

test(
  'contents are backed up with the frames that name them, copied again if the backup lost them, and reported if the home lost them too',
  { tags: ['long', 'decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    const [home, backup] = [join(folder.path, 'home'), join(folder.path, 'backup')];
    const large = (letter: string): object => ({ role: 'user', content: letter.repeat(300_000) });
    writeFileSync(
      join(folder.path, 'a.json'),
      JSON.stringify([
        large('a'),
        { role: 'assistant', content: 'yes' },
        large('b'),
        { role: 'assistant', content: 'no' },
      ]),
    );
    await stemmaJson(['import', join(folder.path, 'a.json'), '--history', 'a', '--home', home]);
    const thread = await stemmaJson(['thread', 'a', '--home', home]);
    const run = (): Promise<unknown> => stemmaJson(['backup', backup, '--home', home]);
    const first = (await run()) as Backup;
    expect([first.contents, first.added.contents]).toEqual([contentFiles(join(home, 'contents')).length, 2]);
    expect(((await run()) as Backup).added.contents).toBe(0);
    rmSync(contentFiles(backup)[0] ?? '');
    writeFileSync(contentFiles(backup)[0] ?? '', 'altered');
    const refused = await runStemma(['restore', backup, '--to', join(folder.path, 'r')]);
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('E_BACKUP_DAMAGED')]);
    expect(((await run()) as Backup).added.contents).toBe(2);
    await stemmaJson(['restore', backup, '--to', join(folder.path, 'r')]);
    expect(await stemmaJson(['thread', 'a', '--home', join(folder.path, 'r')])).toEqual(thread);

    rmSync(contentFiles(join(home, 'contents'))[0] ?? '');
    rmSync(contentFiles(backup)[0] ?? '');
    const damaged = await runStemma(['backup', backup, '--home', home]);
    expect([damaged.code, damaged.stdout]).toEqual([5, expect.stringContaining('is missing')]);
    const restored = await runStemma(['restore', backup, '--to', join(folder.path, 'r2')]);
    expect([restored.code, restored.stdout]).toEqual([5, expect.stringContaining('is missing')]);
  },
);

test(
  'backup and restore refuse a missing home, a missing --to and a missing backup, and create nothing',
  { tags: ['decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    const at = (name: string): string => join(folder.path, name);
    expect(await runStemma(['backup', at('b'), '--home', at('none')])).toMatchObject({ code: 1 });
    expect(await runStemma(['restore', at('b')])).toMatchObject({ code: 64 });
    expect(await runStemma(['restore', at('b'), '--to', at('r')])).toMatchObject({
      code: 74,
      stderr: expect.stringContaining('E_BACKUP_NOT_FOUND') as string,
    });
    expect(readdirSync(folder.path)).toEqual([]);
  },
);

test(
  'a home that is restored without its rules of redaction says which files are missing, and records nothing until they are put back',
  { tags: ['long', 'decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    const at = (name: string): string => join(folder.path, name);
    mkdirSync(at('home'));
    writeFileSync(at('home/redact.json'), '{}');
    const [, , secret = ''] = FAKE_SECRETS[0] ?? [];
    const conversation = (name: string): string => {
      const file = at(`${name}.json`);
      writeFileSync(
        file,
        JSON.stringify([
          { role: 'user', content: `${name}: my key is ${secret}` },
          { role: 'assistant', content: 'Change it.' },
        ]),
      );
      return file;
    };
    await stemmaJson(['import', conversation('a'), '--home', at('home')]);
    await stemmaJson(['backup', at('b'), '--home', at('home')]);
    const restored = await runStemma(['restore', at('b'), '--to', at('r')]);
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    expect(restored.stdout).toContain('put back redact.json from a copy of the home');
    const refused = await runStemma(['import', conversation('b'), '--home', at('r')]);
    expect(refused).toMatchObject({ code: 74, stderr: expect.stringContaining('E_FILE_GONE') as string });
    expect(filesHolding(at('r'), [secret])).toEqual([]);
    expect((await runStemma(['doctor', '--home', at('r')])).stdout).toContain('redact.json');
    expect(await stemmaJson(['thread', 'a', '--home', at('r')])).toEqual(
      await stemmaJson(['thread', 'a', '--home', at('home')]),
    );
    copyFileSync(at('home/redact.json'), at('r/redact.json'));
    await stemmaJson(['import', conversation('b'), '--home', at('r')]);
    expect(filesHolding(at('r'), [secret])).toEqual([]);
  },
);
