import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { foundFiles } from './found-files.ts';
import { isOfLongStage } from './test-tiers.ts';

/** What says that a test does more in a long run, or only there. */
const SAYS_MORE = /\b(?:sized|onlyLong|keepHomeOpen)\(|\bisLong\b|\bSTEMMA_CONTAINERS\b|\btags: \['long'/;
/** A helper of tests that has two sizes itself; others only offer what a test may call. */
const HELPS_MORE = /\b(?:sized|onlyLong)\(/;
/** `runs` of the test kit has two sizes; the others of that name are their files' own. */
const RUNS_OF_KIT = /import \{[^}]*\bruns\b[^}]*\} from '@stemma\/test-kit/;
const HELPERS = /(?:from|import) '(\.{1,2}\/[^']+\.tsx?)'/g;

const root = join(import.meta.dirname, '..');

/** The test files of the long stage, relative to the root: those that are left to it, and those that say, or whose helpers say, that they do more there. */
export const longFiles = (): readonly string[] => {
  const known = new Map<string, boolean>();
  const doesMore = (file: string, says: RegExp): boolean => {
    const before = known.get(file);
    if (before !== undefined) return before;
    known.set(file, false);
    const text = readFileSync(file, 'utf8');
    const helpers = [...text.matchAll(HELPERS)]
      .map(([, path = '']) => join(dirname(file), path))
      .filter((path) => path.includes('/test/'));
    const more =
      says.test(text) || RUNS_OF_KIT.test(text) || helpers.some((helper) => doesMore(helper, HELPS_MORE));
    known.set(file, more);
    return more;
  };
  return testFiles().filter((file) => isOfLongStage(file) || doesMore(join(root, file), SAYS_MORE));
};

const testFiles = (): readonly string[] =>
  foundFiles(
    root,
    ['{packages/*,services,examples}/*/{src,test}', 'bench/src', 'scripts'].map(
      (folder) => `${folder}/**/*.test.{ts,tsx}`,
    ),
  );
