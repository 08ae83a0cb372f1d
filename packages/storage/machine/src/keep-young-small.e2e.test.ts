import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const CHILD = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { keepYoungSmall } from '${new URL('./keep-young-small.ts', import.meta.url).href}';
  const sizes = [];
  if (process.argv[1] === 'small') keepYoungSmall(1);
  let kept = [];
  for (let round = 0; round < 120; round++) {
    // Half of what is made lives for a while: then V8 wants more room for it.
    if (round % 10 === 0) kept = [];
    for (let i = 0; i < 20_000; i++) kept.push({ i, of: [round] });
    // It is looked at every 50 ms: in so few rounds it does not double twice, however slow the machine is.
    await sleep(25);
    sizes.push(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size);
  }
  console.log(Math.max(...sizes));
`;

const largest = async (how: 'small' | 'as it is'): Promise<number> => {
  const args = ['--input-type=module', '-e', CHILD, how];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
};

test('the young generation of the first thread stops growing before it is what it becomes by itself', async () => {
  expect(await largest('small')).toBeLessThan(await largest('as it is'));
});
