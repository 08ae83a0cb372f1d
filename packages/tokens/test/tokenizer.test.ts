import { expect, it } from 'vitest';
import { loadTokenizer } from '../src/index.ts';

it('counts tokens as the published vocabulary o200k_base does', async () => {
  const { count } = await loadTokenizer();

  // The counts that OpenAI's cookbook, "How to count tokens with tiktoken", prints for this vocabulary.
  expect(['', 'antidisestablishmentarianism', '2 + 2 = 4', 'お誕生日おめでとう'].map(count)).toEqual([
    0, 6, 7, 8,
  ]);
});

it('counts what looks like a special token as the text it is', async () => {
  const { count } = await loadTokenizer();

  expect(count('<|endoftext|>')).toBeGreaterThan(1);
});

it('counts hostile texts in time that grows with their length', async () => {
  const { count } = await loadTokenizer();
  const begun = performance.now();

  for (const run of ['a', ' ', '!', '漢', '😀', '\u0301', 'a\u0301', '-=', '\n'])
    expect(count(run.repeat(200_000 / run.length))).toBeGreaterThan(100);

  expect(performance.now() - begun).toBeLessThan(20_000);
});
