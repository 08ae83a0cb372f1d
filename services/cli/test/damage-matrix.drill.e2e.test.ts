import { sized } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import { runDamages } from './matrix/run-damages.ts';

it(
  'when any file of a home is zeroed, changed, cut or missing, commands end, print nothing wrong and name the problem, and their advice restores all that the log still holds',
  { tags: ['record§2:damaged', 'record§2:verify', 'record§2:salvage'], timeout: 600_000 },
  async () => {
    const report = await runDamages({ count: sized(2, 14), seed: 7, workers: 1, questions: 2 });
    expect(report.wrong).toEqual([]);
    expect(report.tried).toBe(sized(2, 14));
  },
);
