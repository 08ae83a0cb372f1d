import { serveGateway } from '@stemma/gateway';
import { openHome } from '@stemma/home';
import { flipBitOfRow, replaceInRows, rowsFileOf, sized } from '@stemma/test-kit';
import { open } from 'lmdb';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeRows } from './remove-rows.ts';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';
import { transcripts } from './transcripts.ts';

const SAID = /the rows were damaged \(.*\); they are put aside, and rebuilt from the log/;
const made = [
  { role: 'system', content: 'You book flights.' },
  ...Array.from({ length: 12 }, (_, i) => [
    { role: 'user', content: `Question ${i}.` },
    { role: 'assistant', content: `Answer ${i}, with the word assistant.` },
  ]).flat(),
];

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const template = join(folder.path, 'template');
let copies = 0;
const copyOfHome = (): string => {
  const copy = join(folder.path, `home-${++copies}`);
  cpSync(template, copy, { recursive: true });
  return copy;
};
const READS = [
  ['histories'],
  ['snapshots', 'talk'],
  ['thread', 'talk'],
  ['export', 'talk', '@c3'],
  ['show', 'talk'],
  ['log', 'talk'],
  ['branches', 'talk'],
  ['diff', 'talk', '@c1', '@c4'],
  ['select', 'talk', '^seq'],
  ['cache', 'talk'],
  ['blame', 'talk'],
  ['stages', 'talk'],
  ['compare', 'talk', 'side', 'main'],
];
const answers = new Map<string, string>();
/** What a command says on rows that nobody damaged. */
const answerTo = async (command: readonly string[]): Promise<string> => {
  const known = answers.get(command.join(' '));
  if (known !== undefined) return known;
  const { code, stdout } = await runStemma([...command, '--home', template]);
  expect(code, command.join(' ')).toBe(0);
  answers.set(command.join(' '), stdout);
  return stdout;
};

beforeAll(async () => {
  for (const [i, name] of ['talk', 'other'].entries()) {
    const file = join(folder.path, `${name}.json`);
    writeFileSync(file, JSON.stringify(transcripts[i]?.messages ?? made.slice(0, 20 - i * 4)));
    await stemmaJson(['import', file, '--history', name, '--home', template]);
  }
  const fork = await stemmaJson(['fork', 'talk', '@c3', '--name', 'side', '--home', template]);
  const { branch } = fork as { branch: string };
  await stemmaJson(['insert', branch, '--content', 'on the side', '--home', template]);
  await stemmaJson(['commit', branch, '--home', template]);
}, 60_000);

const expectRight = async (home: string): Promise<void> => {
  expect(await stemmaJson(['replay', '--verify', '--home', home])).toMatchObject({ differences: 0 });
  expect(await stemmaJson(['verify', '--rows', '--home', home])).toMatchObject({ ok: true, problems: [] });
};

describe('rows with a changed bit', () => {
  test.each(
    [
      ['thread', 'talk'],
      ['export', 'talk', '@c3'],
      ['compare', 'talk', 'side', 'main'],
    ].slice(0, sized(1, 3)),
  )(
    '%s uses none of them: it reports the damage and answers from rebuilt rows, and so do later commands',
    async (...command) => {
      const right = await answerTo(command);
      const home = copyOfHome();
      expect(replaceInRows(home, 'assistant', 'c')).toBeGreaterThan(0);
      const { code, stdout, stderr } = await runStemma([...command, '--home', home]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: right });
      expect(stderr).toMatch(SAID);
      const again = await runStemma([...command, '--home', home]);
      expect(again).toEqual({ code: 0, stdout, stderr: '' });
      await expectRight(home);
    },
    20_000,
  );

  test('do not affect acknowledged commands: an insert and a commit have the hashes that a replay computes', async () => {
    const home = copyOfHome();
    replaceInRows(home, 'assistant', 'c');
    const inserted = await runStemma(['insert', 'talk', '--content', 'more', '--home', home]);
    expect(inserted.code).toBe(0);
    expect(inserted.stderr).toMatch(SAID);
    replaceInRows(home, 'assistant', 'c');
    const committed = await runStemma(['commit', 'talk', '--home', home]);
    expect(committed.code).toBe(0);
    expect(committed.stderr).toMatch(SAID);
    await stemmaJson(['replay', '--home', home]);
    await expectRight(home);
  }, 20_000);

  test('verify finds it, exits with 5, and reports no problem the next time; replay --verify reports a difference and changes nothing', async () => {
    const home = copyOfHome();
    replaceInRows(home, 'assistant', 'c');
    const compared = await runStemma(['replay', '--verify', '--json', '--home', home]);
    expect(compared.code).toBe(5);
    expect(JSON.parse(compared.stdout)).toMatchObject({
      differences: 1,
      firstDifference: 'versions (damaged) ',
    });
    const verified = await runStemma(['verify', '--json', '--home', home]);
    expect(verified.code).toBe(5);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: false, problems: [{ kind: 'rows' }] });
    await expectRight(home);
  }, 20_000);

  test('the page never gets it, and metrics, doctor and health report it', async () => {
    const home = copyOfHome();
    replaceInRows(home, 'assistant', 'c');
    const { openGatewayMetrics } = await import('@stemma/gateway');
    const { metrics, observe, opened } = openGatewayMetrics();
    const served = await openHome({ directory: home, catchUpTimeout: 5_000, observe });
    opened(served);
    const gateway = await serveGateway({ home: served, metrics, port: 0 });
    try {
      const get = async (path: string): Promise<string> => (await fetch(`${gateway.url}${path}`)).text();
      const thread = await get('/api/histories/talk/thread');
      expect(thread).toContain('"assistant"');
      expect(thread).not.toContain('cssistant');
      expect(await get('/api/histories/talk/tree')).not.toContain('cssistant');
      expect(await get('/api/doctor')).toMatch(SAID);
      expect(await get('/metrics')).toMatch(/stemma_rows_rebuilt_total.* 1\n/);
      expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
    } finally {
      await gateway.close();
      await served.close();
    }
  }, 20_000);
});

describe('missing rows', () => {
  const RAW = { keyEncoding: 'binary', encoding: 'binary' } as const;
  /** Takes every nth value of a table out of the file, with all rows that stand in it. */
  const removeValues = async (home: string, table: string, nth: number): Promise<void> => {
    const root = open({ path: rowsFileOf(home), noSync: true, maxDbs: 128, ...RAW });
    const tree = root.openDB<Buffer, Buffer>({ name: `rows ${table}`, ...RAW });
    for (const [i, key] of [...tree.getKeys()].entries()) if (i % nth === nth - 1) tree.removeSync(key);
    await root.close();
  };

  const CASES = [
    ['versions', 7, ['thread', 'talk', '@c9']],
    ['turns', 3, ['insert', 'talk', '--content', 'more']],
    ['snapshots', 2, ['snapshots', 'talk']],
    ['position_meta', 1, ['select', 'talk', '^seq']],
    ['branch_summaries', 2, ['branches', 'talk']],
    ['histories', 2, ['histories']],
    ['versions', 7, ['compare', 'talk', 'side', 'main']],
    ['versions', 5, ['select', 'talk', '^seq']],
    ['versions', 5, ['diff', 'talk', '@c1', '@c4']],
    ['versions', 5, ['insert', 'talk', '--content', 'more']],
    ['turns', 3, ['thread', 'talk', '@c9']],
    ['turns', 3, ['compare', 'talk', 'side', 'main']],
    ['heads', 1, ['thread', 'talk']],
    ['history_heads', 2, ['histories']],
  ] as const;
  test.each(CASES.slice(0, sized(3, CASES.length)))(
    'are noticed by a sum, a count or a hash: some of %s, every %dth, by %j',
    async (table, nth, command) => {
      const right = command[0] === 'insert' ? undefined : await answerTo(command);
      const home = copyOfHome();
      expect(await removeRows(home, table, nth)).toBeGreaterThan(0);
      const { code, stdout, stderr } = await runStemma([...command, '--home', home]);
      expect(code, stderr).toBe(0);
      expect(stderr).toMatch(SAID);
      if (right === undefined) await expectRight(home);
      else expect(stdout).toBe(right);
    },
    40_000,
  );

  test.each([
    ['versions', ['thread', 'talk', '@c9']],
    ['turns', ['insert', 'talk', '--content', 'more']],
  ] as const)(
    'are noticed where many stand together: all values of %s, by %j',
    async (table, command) => {
      const home = copyOfHome();
      await removeValues(home, table, 1);
      const { code, stderr } = await runStemma([...command, '--home', home]);
      expect(code, stderr).toBe(0);
      expect(stderr).toMatch(SAID);
      await expectRight(home);
    },
    40_000,
  );
});

test('when any bit of any row changes, every reading command gives the same answer as before, or an error with a code', async () => {
  for (let seed = 1; seed <= sized(3, 195); seed++) {
    let state = seed;
    const random = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
    const command = READS[(seed * 3) % READS.length] as string[];
    const right = await answerTo(command);
    const home = copyOfHome();
    flipBitOfRow(home, () => (random(), random()));
    const { code, stdout, stderr } = await runStemma([...command, '--home', home]);
    const what = `seed ${seed}, ${command.join(' ')}: ${stderr}`;
    if (code === 0) expect(stdout, what).toBe(right);
    else expect(stderr, what).toMatch(/\(E_[A-Z_]+\)/);
    expect(stderr, what).not.toContain('E_INTERNAL');
  }
}, 120_000);
