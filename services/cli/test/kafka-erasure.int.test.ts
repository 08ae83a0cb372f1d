import { filesHolding, findBroker, readTopic } from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runStemma, temporaryFolder, type Run } from './run-stemma.ts';

const found = await findBroker();
const brokers = 'skip' in found ? [] : found.brokers;

const PLANTED = ['planted-content', 'planted-history', 'planted-note'];

/** A home with its log on Kafka: an erasable history and one that stays. */
const opened = async () => {
  const folder = temporaryFolder();
  const prefix = `cli-${randomUUID()}`;
  const address = `kafka://${brokers.join(',')}/${prefix}?partitions=3`;
  const inHome =
    (name: string) =>
    (...args: string[]): Promise<Run> =>
      runStemma(args, { env: { STEMMA_LOG: address, STEMMA_HOME: join(folder.path, name) } });
  const must = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await inHome('home')(...args);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  for (const word of ['planted', 'other']) {
    const file = join(folder.path, `${word}.json`);
    writeFileSync(
      file,
      JSON.stringify([
        { role: 'user', content: `${word}-content` },
        { role: 'assistant', content: `${word}-content `.repeat(20_000) },
      ]),
    );
    await must('import', file, '--history', `${word}-history`, ...(word === 'planted' ? ['--erasable'] : []));
  }
  await must('annotate', 'planted-history', 'planted-note');
  return {
    folder,
    prefix,
    home: join(folder.path, 'home'),
    inHome,
    run: inHome('home'),
    must,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
};

describe('an erasable history on Kafka', () => {
  beforeEach(({ skip }) => {
    if ('skip' in found) skip(found.skip);
  });

  it('is in the topic only as ciphertext, and after its erasure nowhere in the home', async () => {
    using place = await opened();
    const { home, run, must } = place;
    const records = await readTopic(brokers, `${place.prefix}.frames`);
    expect(records.length).toBeGreaterThan(3);
    for (const { key, value } of records) for (const text of PLANTED) expect(key + value).not.toContain(text);
    expect(await must('thread', 'planted-history')).toContain('planted-content');
    const before = await must('export', 'other-history');

    await must('erase', 'planted-history', '--yes', '--notes', 'asked by letter');
    expect(filesHolding(home, PLANTED)).toEqual([]);
    for (const args of [
      ['thread', 'planted-history'],
      ['annotate', 'planted-history', 'more'],
      ['start', '--name', 'planted-history'],
    ]) {
      const { code, stderr } = await run(...args);
      expect([args[0], code, stderr]).toEqual([
        args[0],
        1,
        expect.stringMatching(/was erased on .* by tester: asked by letter \(E_HISTORY_ERASED\)/),
      ]);
    }
    expect(await must('export', 'other-history')).toBe(before);
    expect(await must('verify')).toContain('no problems');
    expect(await must('replay', '--verify')).toContain('0 differences');
    expect(await must('doctor')).not.toContain('error');
    await must('annotate', 'other-history', 'goes on');
  });

  it('cannot be read in a home without its key, and that home learns of the erasure from the log', async () => {
    using place = await opened();
    const other = place.inHome('elsewhere');
    cpSync(join(place.home, 'contents'), join(place.folder.path, 'elsewhere', 'contents'), {
      recursive: true,
    });
    expect(await other('thread', 'planted-history')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('E_HISTORY_SEALED') as string,
    });
    await place.must('erase', 'planted-history', '--yes');
    expect((await other('histories')).code).toBe(0);
    const verified = await other('verify');
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/^[^\n]* no problems\n$/)]);
    expect(await other('thread', 'planted-history')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('E_HISTORY_ERASED') as string,
    });
    expect(filesHolding(join(place.folder.path, 'elsewhere'), PLANTED)).toEqual([]);
  });

  it(
    'is backed up from Kafka and restored to a home: before its erasure with its key, afterwards as erased',
    { tags: ['long'] },
    async () => {
      using place = await opened();
      const { folder, home, must } = place;
      const at = (name: string): string => join(folder.path, name);
      const inRestored = (name: string, ...args: string[]): Promise<Run> =>
        runStemma([...args, '--home', at(name)]);
      const thread = await must('export', 'planted-history');
      const backup = at('backup');
      expect(await must('backup', backup)).toContain('all verified');
      expect(filesHolding(backup, PLANTED)).toEqual([]);
      expect((await runStemma(['restore', backup, '--to', at('with-key')])).code).toBe(0);
      cpSync(join(home, 'keys'), join(at('with-key'), 'keys'), { recursive: true });
      expect((await inRestored('with-key', 'replay')).code).toBe(0);
      expect((await inRestored('with-key', 'export', 'planted-history')).stdout).toBe(thread);
      expect((await inRestored('with-key', 'verify')).stdout).toContain('no problems');

      await must('erase', 'planted-history', '--yes', '--notes', 'asked by letter');
      await must('annotate', 'other-history', 'goes on');
      expect(await must('backup', backup)).toContain('all verified');
      expect((await runStemma(['restore', backup, '--to', at('later')])).code).toBe(0);
      expect((await inRestored('later', 'thread', 'planted-history')).stderr).toMatch(
        /was erased on .*: asked by letter/,
      );
      expect((await inRestored('later', 'export', 'other-history')).stdout).toBe(
        await must('export', 'other-history'),
      );
      expect((await inRestored('later', 'verify')).stdout).toContain('no problems');
      expect(filesHolding(at('later'), PLANTED)).toEqual([]);
    },
  );
});
