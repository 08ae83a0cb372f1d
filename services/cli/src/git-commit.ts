import type { GitCommit } from '@stemma/events';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Milliseconds that git has for each of its answers: what it does not say in time is not known. */
const DEADLINE = 3_000;

/** The commit that a directory is at, and whether files that git keeps differ from it; null: it is in no repository, or has no commit. */
export const commitOf = async (
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<GitCommit | null> => {
  const ask = async (...args: readonly string[]): Promise<string | null> => {
    try {
      const { stdout } = await run('git', ['--no-optional-locks', ...args], {
        cwd: directory,
        env: { PATH: process.env['PATH'], ...env },
        timeout: DEADLINE,
        maxBuffer: 64 * 1024 * 1024,
      });
      return stdout.trim();
    } catch {
      return null;
    }
  };
  const [id, changes] = await Promise.all([
    ask('rev-parse', '--verify', '--quiet', 'HEAD'),
    ask('status', '--porcelain', '--untracked-files=no', '--ignore-submodules=none'),
  ]);
  if (id === null || !/^[0-9a-f]{40,64}$/.test(id)) return null;
  return { id, changed: changes === null ? null : changes !== '' };
};
