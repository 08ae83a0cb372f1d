import { isForbiddenKey } from '@stemma/canonical';
import fc from 'fast-check';

/** Any JSON that can be recorded: no object in it has a forbidden key, such as `__proto__`. */
export const anyJson = (maxDepth: number): fc.Arbitrary<unknown> =>
  fc.jsonValue({ maxDepth }).filter((value) => !hasForbiddenKey(value));

const hasForbiddenKey = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(([key, inner]) => isForbiddenKey(key) || hasForbiddenKey(inner));
