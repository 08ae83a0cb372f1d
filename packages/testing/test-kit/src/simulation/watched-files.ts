import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { sep } from 'node:path';

/** Calls of `node:fs` that change a file or a folder, or make such a change durable. */
const WATCHED = ['openSync', 'writeFileSync', 'renameSync', 'rmSync', 'mkdirSync', 'fsyncSync'] as const;

/**
 * Calls `step` before every change below a folder by `node:fs`, which does not happen if that throws, and `synced` after a file or
 * folder was made durable. What native code does is not seen. Returns what ends it.
 */
export const watchFiles = (
  folder: string,
  step: () => void,
  synced: (path: string) => void,
): (() => void) => {
  const originals = WATCHED.map((name) => [name, fs[name]] as const);
  const isBelow = (path: unknown): path is string =>
    typeof path === 'string' && (path === folder || path.startsWith(folder + sep));
  const watched =
    (name: string, call: (...args: unknown[]) => unknown) =>
    (...args: unknown[]): unknown => {
      const path = name === 'fsyncSync' ? fs.readlinkSync(`/proc/self/fd/${String(args[0])}`) : args[0];
      const reads = name === 'openSync' && (args[1] === 'r' || args[1] === 'r+');
      if (!isBelow(path) || reads) return call(...args);
      step();
      const answer = call(...args);
      if (name === 'fsyncSync') synced(path);
      return answer;
    };
  for (const [name, original] of originals)
    Object.assign(fs, { [name]: watched(name, original as (...args: unknown[]) => unknown) });
  syncBuiltinESMExports();
  return () => {
    for (const [name, original] of originals) Object.assign(fs, { [name]: original });
    syncBuiltinESMExports();
  };
};
