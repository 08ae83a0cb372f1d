import { expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

test(
  'histories are listed by name, beginning of the id, time and number; the reader is told how many there are',
  { tags: ['long'] },
  async () => {
    using folder = temporaryFolder();
    const home = ['--home', folder.path];
    for (const name of ['Checkout', 'slow-checkout', 'refund'])
      await stemmaJson(['start', '--name', name, ...home]);
    const namesOf = async (...line: readonly string[]): Promise<readonly string[]> =>
      ((await stemmaJson(['histories', ...line, ...home])) as { name: string }[]).map(({ name }) => name);
    expect(new Set(await namesOf('checkout'))).toEqual(new Set(['Checkout', 'slow-checkout']));
    const [refund] = (await stemmaJson(['histories', 'refund', ...home])) as { history: string }[];
    expect(await namesOf(refund?.history.slice(0, 6) ?? '')).toEqual(['refund']);
    expect(await namesOf('--since', '1h')).toHaveLength(3);
    expect(await namesOf('--since', '2026-01-02T03:04:05.678Z')).toHaveLength(3);
    expect(await namesOf('--since', '9999-01-01')).toEqual([]);

    const page = await runStemma(['histories', '--limit', '2', ...home]);
    expect([page.code, page.stdout.trimEnd().split('\n').length]).toEqual([0, 3]);
    expect(page.stderr).toContain('2 of 3 histories');
    const none = await runStemma(['histories', 'nobody', ...home]);
    expect([none.code, none.stdout]).toEqual([0, 'no history matches\n']);
  },
);

test.each(['yesterday', '7', '2026-13-01', '2026-11-20T10:00:00', '', '-1h', '9999999d'])(
  'histories since %j are refused: it is no time',
  async (since) => {
    using folder = temporaryFolder();
    const { code, stderr } = await runStemma(['histories', `--since=${since}`, '--home', folder.path]);
    expect([code, stderr]).toEqual([64, expect.stringContaining('E_USAGE')]);
  },
);
