import { globSync } from 'node:fs';

/**
 * The files that patterns name, sorted. A check that reads no file would pass in silence, so none of the patterns may be idle.
 *
 * @param root the folder that patterns and results are relative to
 * @throws if a pattern names no file
 */
export const foundFiles = (
  root: string,
  patterns: readonly string[],
  exclude: readonly string[] = ['**/node_modules/**', '**/dist/**'],
): readonly string[] => {
  const files = patterns.flatMap((pattern) => {
    const found = globSync(pattern, { cwd: root, exclude });
    if (found.length === 0) throw new Error(`${pattern} names no file: has its folder moved?`);
    return found;
  });
  return [...new Set(files)].sort((a, b) => (a < b ? -1 : 1));
};
