import { z } from 'zod';
import { wholeInQuery } from './values.ts';

const branchList = z
  .string()
  .min(1)
  .max(10_000)
  .describe('branches of the history by id, separated by commas: each is a run of the arm');
export const arms = z.strictObject({
  a: branchList,
  b: branchList,
  permutations: wholeInQuery
    .optional()
    .describe('the random divisions that the arms are held against, at most 9,999 (default: 1,999)'),
  seed: wholeInQuery.optional().describe('the seed of the random numbers (default: 0)'),
});
