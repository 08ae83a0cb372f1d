import { compareCodePoints } from '@stemma/canonical';
import { spawnSync } from 'node:child_process';
import { relative, sep } from 'node:path';
import type { Workspace } from './types.ts';

/** The paths of a workspace from its root, and how many names are no UTF-8. */
export type ListedFiles = { readonly paths: readonly string[]; readonly unnamed: number };

/** The most bytes of names that git lists. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Lists the files that git would keep: those in the index of the repository that the workspace is in, and those that nothing ignores.
 * Nothing is written to the repository. A workspace in none, or one that its repository ignores, is listed by an empty index.
 */
export const openListing = ({ root, home, gitDirectory, env }: Workspace): (() => ListedFiles) => {
  const around = withoutGit(env);
  const git = (own: NodeJS.ProcessEnv, ...args: readonly string[]): Buffer | undefined => {
    const ran = spawnSync('git', ['--no-optional-locks', '-c', 'core.fsmonitor=false', ...args], {
      ...{ cwd: root, env: { ...around, ...own }, maxBuffer: MOST_BYTES },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return ran.status === 0 ? ran.stdout : undefined;
  };
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const isIgnored = git({}, 'check-ignore', '-q', '.') !== undefined;
  const outside = relative(root, home).split(sep).join('/');
  return () => {
    const listed =
      (isIgnored ? undefined : git({}, ...list)) ??
      git({ GIT_DIR: gitDirectory, GIT_WORK_TREE: root }, ...list);
    if (listed === undefined) throw new Error(`git does not list the files of ${root}`);
    return namesIn(listed, outside);
  };
};

/** @param home the path of the home from the root, whose files are none of the workspace */
const namesIn = (listed: Buffer, home: string): ListedFiles => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const paths = new Set<string>();
  let unnamed = 0;
  for (let at = 0; at < listed.length;) {
    const end = listed.indexOf(0, at);
    try {
      const path = decoder.decode(listed.subarray(at, end)).replace(/\/$/, '');
      if (path !== home && !path.startsWith(`${home}/`)) paths.add(path);
    } catch {
      unnamed++;
    }
    at = end + 1;
  }
  return { paths: [...paths].sort(compareCodePoints), unnamed };
};

/** Variables of git name another repository, or another index. */
export const withoutGit = (env: Workspace['env']): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries({ PATH: process.env['PATH'], ...env }).filter(([name]) => !name.startsWith('GIT_')),
  );
