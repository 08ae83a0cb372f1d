import { afterAll, beforeAll, expect, test } from 'vitest';
import { join } from 'node:path';
import { keepHomeOpen, runStemma, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(folder.path);
const sample = join(import.meta.dirname, '../../../samples/slow-checkout.steps.jsonl');
const home = ['--home', folder.path];
const run = (...args: string[]) => runStemma([...args, ...home]);
/** The exit code and the error code of a command line that is refused, with nothing printed. */
const refusal = async (...args: string[]): Promise<readonly unknown[]> => {
  const { code, stdout, stderr } = await run(...args);
  return [code, /\((E_[A-Z_]+)\)/.exec(stderr)?.[1], stdout];
};

beforeAll(async () => {
  expect((await run('import', sample, '--history', 'checkout')).code).toBe(0);
});

test('without --json each pair that differs is a paragraph, from the older to the newer', async () => {
  const { stdout } = await run('select', 'checkout', '@c7..9 #plan', '--include-content');
  expect(stdout.split('\n').slice(0, 4)).toEqual([
    '@c8 → @c9  +0 −0 ~1',
    '  ~ plan  (content_hash)  system: Plan 1. Confirm the symptom. Done. 2. Find the slow span. Done: tax-rates, cache miss…',
    '      --- @c8',
    '      +++ @c9',
  ]);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('3 snapshots, 2 pairs compared, 1 of them equal');
  const named = await run('select', 'checkout', '@t-3..-2 ^seq .cb', '--max-changes', '4');
  expect(named.stdout).toBe(
    [
      '@t-3 (@c15) → @t-2 (@c16)  +3 −3 ~1',
      '  + n:0:16:0  assistant: Let me look at the code that builds the key, so that the ticket names the place.',
      '  + call-11  assistant: code_search({"repository": "tax-rates", "query": "rate: key postcode"})',
      '  + result-11  tool: src/quote/key.ts:14 export const rateKey = (postcode: string, kind: string) => `rate:${postcode}:$…',
      '  - change-cart-412  system: Change: cart v412 Postcodes are now sent as the customer typed them, trimmed, in upper cas…',
      '  … 3 more',
      '',
      '2 snapshots, 1 pair compared, 0 of them equal, some changes not listed',
      '',
    ].join('\n'),
  );
});

test.each([
  ['@t-5..@c1 .cb', 64, 'E_SNAPSHOT_RANGE_KIND_MISMATCH'],
  ['@t-5..@* .cb', 64, 'E_SNAPSHOT_RANGE_WILDCARD'],
  ['@*..@c1 .cb', 64, 'E_SNAPSHOT_RANGE_WILDCARD'],
  ['@t-2000..@t0 .cb', 64, 'E_SNAPSHOT_RANGE_LIMIT'],
  ['@t-50..@t0 .cb', 1, 'E_SNAPSHOT_NOT_FOUND'],
  ['@c0..@c3 .cb', 1, 'E_SNAPSHOT_NOT_FOUND'],
  ['@t-5..@t0', 64, 'E_SELECTOR_INVALID'],
  ['@t-5..@s3 .cb', 64, 'E_SELECTOR_INVALID'],
  ['@t-5..@t0 .cb[', 64, 'E_SELECTOR_INVALID'],
])(
  'the range %s ends with %i and %s',
  { tags: ['context-tree§8:codes', 'context-tree§10.22'] },
  async (range, code, error) => {
    expect(await refusal('select', 'checkout', range)).toEqual([code, error, '']);
  },
);

test('options of a range are refused where they do not apply, are wrong, or there is no range', async () => {
  const ask = (...args: string[]) => refusal('select', 'checkout', '@t-5..@t0 .cb', ...args);
  expect(await ask('--max-snapshots', '3')).toEqual([64, 'E_SNAPSHOT_RANGE_LIMIT', '']);
  expect(await ask('--content-mode', 'nope')).toEqual([64, 'E_USAGE', '']);
  expect(await ask('--context-lines', '-1')).toEqual([64, 'E_USAGE', '']);
  const { code, stderr } = await run('select', 'checkout', '@t0 .cb', '--include-content');
  expect([code, stderr.includes('--include-content needs a range')]).toEqual([64, true]);
});

test(
  'diff --select lists the differences that the selector matches in either position',
  { tags: ['context-tree§7:shape'] },
  async () => {
    const at = ['diff', 'checkout', '@c15', '@c16'];
    const select = ['--select', '^seq .cb[ttl>=0]'];
    const lines = (await run(...at, ...select)).stdout.split('\n').map((line) => line.slice(0, 40));
    expect(lines).toEqual([
      '- change-cart-412  system: Change: cart ',
      '- cache-keys  system: tax-rates: how key',
      '~ ticket-guide  (ttl)  system: How we wr',
      '',
    ]);
    expect(await refusal(...at, '--select', '@t0 .cb')).toEqual([64, 'E_SELECTOR_INVALID', '']);
    expect(await refusal('diff', 'checkout', '@c1', '@c99')).toEqual([1, 'E_SNAPSHOT_NOT_FOUND', '']);
  },
);
