import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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

/** Where the entries of a segment begin. */
const offsetsOf = (segment: Buffer): readonly number[] => {
  const magic = Buffer.of(0xc1, 0x53, 0x4d, 0x31);
  const offsets: number[] = [];
  for (let at = segment.indexOf(magic); at !== -1; at = segment.indexOf(magic, at + 1)) offsets.push(at);
  return offsets;
};

/** Records the histories `alpha` and `beta`. */
const importBoth = async (folder: string, at: readonly string[]): Promise<void> => {
  for (const name of ['alpha', 'beta']) {
    writeFileSync(join(folder, `${name}.json`), conversation(name));
    await stemmaJson(['import', join(folder, `${name}.json`), '--history', name, ...at]);
  }
};

test(
  'a flipped byte is found and reported with history and seq, nothing after it is served, and salvage continues from before it',
  { tags: ['long', 'record§2:damaged', 'record§2:verify', 'record§2:salvage'] },
  async () => {
    using folder = temporaryFolder();
    const home = join(folder.path, 'home');
    const at = ['--home', home];
    await importBoth(folder.path, at);
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
  },
);

test(
  'every reading command reports damage of an unknown history, and none gives an empty answer without a warning',
  { tags: ['long', 'record§2:unknown-key'], timeout: 60_000 },
  async () => {
    using folder = temporaryFolder();
    const home = join(folder.path, 'home');
    const at = ['--home', home];
    await importBoth(folder.path, at);
    const [segment = ''] = filesIn(join(home, 'log')).filter((file) => file.endsWith('.seg'));
    const whole = readFileSync(segment);
    // Key, header and record of a stretch are gone: nobody knows whose they were.
    const erase = (from: number): void => {
      const bytes = Buffer.from(whole);
      bytes.fill(0, from, from + 2_000);
      writeFileSync(segment, bytes);
      rmSync(join(home, 'rows'), { recursive: true });
    };
    erase(whole.indexOf('beta: a long story.') - 1_000);
    for (const line of [['histories'], ['snapshots', 'alpha'], ['show', 'alpha'], ['stats']]) {
      const { code, stderr } = await runStemma([...line, ...at]);
      expect(code).toBe(0);
      expect(stderr).toMatch(/warning: partition 0 is closed by the damaged record 0@\d+/);
    }
    const [, second = 0] = offsetsOf(whole);
    erase(second);
    const histories = await runStemma(['histories', ...at]);
    expect(histories).toMatchObject({ code: 5, stdout: 'no history can be shown: the log is damaged\n' });
    expect(histories.stderr).toContain(`stemma ack 0@${second}`);
    writeFileSync(segment, whole);
    await runStemma(['verify', ...at]);
    const restored = await runStemma(['histories', ...at]);
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    expect(restored.stdout).toContain('beta');
    erase(second);
    for (const [range, code] of [
      [`0@${second}..`, 64],
      [`0@${second}..${second - 1}`, 64],
      [`0@${second}..999999999`, 1],
    ] as const)
      expect((await runStemma(['ack', range, '--yes', ...at])).code).toBe(code);
    expect(await stemmaJson(['ack', `0@${second}..${second + 2_000}`, '--yes', ...at])).toEqual({
      partition: 0,
      from: second,
      to: second + 2_000,
      acknowledged: 1,
      before: 0,
      closedBy: null,
    });
  },
);

test.each([
  [
    'its only segment',
    (home: string) => filesIn(join(home, 'log')).find((file) => file.endsWith('.seg')) ?? '',
  ],
  ['its folder', (home: string) => join(home, 'log')],
])(
  'a log without %s is not taken for a new one: every command names what is missing, and creates nothing',
  async (_what, pick) => {
    using folder = temporaryFolder();
    const home = join(folder.path, 'home');
    const at = ['--home', home];
    const file = join(folder.path, 'alpha.json');
    writeFileSync(file, conversation('alpha'));
    await stemmaJson(['import', file, '--history', 'alpha', ...at]);
    const missing = pick(home);
    renameSync(missing, join(folder.path, 'aside'));
    for (const line of [
      ['histories'],
      ['verify'],
      ['doctor'],
      ['replay'],
      ['import', file, '--history', 'beta'],
    ]) {
      const { code, stderr } = await runStemma([...line, ...at]);
      expect([line[0], code]).toEqual([line[0], 74]);
      expect(stderr).toContain('E_LOG_GONE');
      expect(existsSync(missing)).toBe(false);
    }
    renameSync(join(folder.path, 'aside'), missing);
    expect((await stemmaJson(['histories', ...at])) as unknown[]).toHaveLength(1);
  },
  60_000,
);

test(
  'every command reports a log that lost its newest records, also where only the rows still show them',
  { tags: ['record§5:lost-end'], timeout: 60_000 },
  async () => {
    using folder = temporaryFolder();
    const home = join(folder.path, 'home');
    const at = ['--home', home];
    const file = join(folder.path, 'alpha.json');
    writeFileSync(file, conversation('alpha'));
    await stemmaJson(['import', file, '--history', 'alpha', ...at]);
    const [segment = ''] = filesIn(join(home, 'log')).filter((each) => each.endsWith('.seg'));
    const bytes = readFileSync(segment);
    await stemmaJson(['histories', ...at]);
    writeFileSync(segment, bytes.subarray(0, offsetsOf(bytes).at(-1)));
    rmSync(join(home, 'log', 'lock'), { recursive: true });
    for (const line of [['histories'], ['insert', 'alpha', '--content', 'more']])
      expect(await runStemma([...line, ...at])).toMatchObject({ code: 5, stdout: '' });
    expect((await runStemma(['doctor', ...at])).stdout).toContain('partition 0 lost its end');
    const verify = await runStemma(['verify', '--json', ...at]);
    expect(verify.code).toBe(5);
    expect(JSON.parse(verify.stdout)).toMatchObject({ ok: false, problems: [{ kind: 'truncated' }] });
    expect((await runStemma(['histories', ...at])).code).toBe(0);
  },
);
