import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(join(folder.path, 'home'));
const home = ['--home', join(folder.path, 'home')];

const message = (content: unknown): string => JSON.stringify([{ role: 'user', content }]);

const FILES: readonly (readonly [what: string, text: string | Uint8Array, code: string])[] = [
  ['is not JSON', 'Dear model,', 'E_INPUT_NOT_JSON'],
  ['is empty', '', 'E_INPUT'],
  ['ends in the middle', '[{"role":"user","content":"hel', 'E_INPUT_TRUNCATED'],
  ['has a role that nobody knows', '[{"role":"wizard","content":"hi"}]', 'E_ROLE_UNKNOWN'],
  ['has no role', '[{"content":"hi"}]', 'E_ROLE_UNKNOWN'],
  [
    'is nested 100,000 deep',
    message('x').replace('"x"', '['.repeat(100_000) + ']'.repeat(100_000)),
    'E_INPUT_TOO_DEEP',
  ],
  ['has a __proto__ key', '[{"role":"user","content":"hi","__proto__":{"a":1}}]', 'E_INPUT_FORBIDDEN_KEY'],
  [
    'has a __proto__ key in disguise',
    '[{"role":"user","content":"hi","\\u005f_proto__":{"a":1}}]',
    'E_INPUT_FORBIDDEN_KEY',
  ],
  [
    'has an integer that cannot be kept',
    '[{"role":"user","content":"hi","n":9007199254740993}]',
    'E_INPUT_NUMBER',
  ],
  ['has half a character', '[{"role":"user","content":"\\ud800"}]', 'E_INPUT_SURROGATE'],
  ['is not UTF-8', Uint8Array.from([0x5b, 0x22, 0xff, 0xfe, 0x22, 0x5d]), 'E_INPUT'],
  ['is a number', '42', 'E_'],
];

test.each(FILES)(
  'a file that %s is refused with a code, and nothing of it is written',
  { tags: ['context-tree§8:codes'] },
  async (_what, text, code) => {
    const file = join(folder.path, 'bad.json');
    writeFileSync(file, text);
    const run = await runStemma(['import', file, '--format', 'openai-chat', '--json', ...home]);
    const { error } = JSON.parse(run.stdout) as { error: { code: string; message: string; help: string } };
    expect(error.code.startsWith(code), `${error.code}: ${error.message}`).toBe(true);
    expect(error.help.length).toBeGreaterThan(10);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(error.code);
    expect(await stemmaJson(['histories', ...home])).toEqual([]);
  },
);

test(
  'a content of 10 MB is imported and read back whole; one above 64 MiB is refused',
  { tags: ['long', 'record§4:limit', 'record§4:outside'] },
  async () => {
    using other = temporaryFolder();
    const at = ['--home', other.path];
    const file = join(folder.path, 'large.json');
    const large = 'é'.repeat(5_000_000);
    writeFileSync(
      file,
      JSON.stringify([
        { role: 'user', content: large },
        { role: 'assistant', content: 'read' },
      ]),
    );
    await stemmaJson(['import', file, '--history', 'large', ...at]);
    const { stdout } = await runStemma(['thread', 'large', '@c1', '--provider', 'openai', ...at]);
    expect((JSON.parse(stdout) as unknown[]).length).toBe(1);
    expect(JSON.parse(stdout)).toEqual([{ role: 'user', content: large }]);

    writeFileSync(file, JSON.stringify([{ role: 'user', content: 'x'.repeat(64 * 1024 * 1024 + 1) }]));
    const refused = await runStemma(['import', file, '--json', ...at]);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('E_CONTENT_TOO_LARGE');
  },
);

test(
  'an unknown history, a missing snapshot and a bad reference have codes of their own',
  { tags: ['context-tree§8:codes', 'context-tree§5:missing-end'] },
  async () => {
    using other = temporaryFolder();
    const at = ['--home', other.path, '--json'];
    expect(JSON.parse((await runStemma(['thread', 'nobody', ...at])).stdout)).toMatchObject({
      error: { code: 'E_HISTORY_NOT_FOUND' },
    });
    await runStemma(['start', '--name', 'one', ...at]);
    expect(JSON.parse((await runStemma(['thread', 'one', '@c7', ...at])).stdout)).toMatchObject({
      error: { code: 'E_SNAPSHOT_NOT_FOUND' },
    });
    expect(JSON.parse((await runStemma(['thread', 'one', '@t1', ...at])).stdout)).toMatchObject({
      error: { code: 'E_SELECTOR_INVALID' },
    });
    const usage = await runStemma(['no-such-command', ...at]);
    expect(usage.code).toBe(64);
    expect((await runStemma(['insert', ...at])).code).toBe(64);
  },
);

test('projector --silence accepts whole numbers from 100 to 999999', async () => {
  const env = { STEMMA_ROWS: 'postgres://stemma@127.0.0.1:1/stemma' };
  for (const value of ['99', '1000000', '6s', '']) {
    const run = await runStemma(['projector', '--silence', value, '--json'], {
      env,
    });
    expect(run.code, value).toBe(64);
    expect(JSON.parse(run.stdout)).toMatchObject({
      error: {
        code: 'E_USAGE',
        message: `--silence must be a whole number from 100 to 999999, not "${value}"`,
      },
    });
  }
});

test(
  'import refuses two core blocks in one turn, and the history is unchanged',
  { tags: ['context-tree§1:core', 'context-tree§10.4'] },
  async () => {
    using other = temporaryFolder();
    const at = ['--home', other.path];
    await stemmaJson(['start', '--name', 'one', ...at]);
    await stemmaJson(['insert', 'one', '--role', 'user', '--content', 'hello', ...at]);
    const before = (await runStemma(['export', 'one', ...at])).stdout;
    const refused = await runStemma(['insert', 'one', '--type', 'mc', '--json', ...at]);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'E_TWO_CORES' } });
    expect((await runStemma(['export', 'one', ...at])).stdout).toBe(before);
  },
);
