import { sha256Hex } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { beganAt, bootId, isAlive, openRegularFile } from '@stemma/machine';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Instead of when a process began, where the system does not tell. */
const UNKNOWN = '-';

const nameOf = (text: string, length: number): string => sha256Hex(text).slice(0, length);

/**
 * Claims a run for this process among all that use the directory: a file names who has it. One of a process that is gone does not
 * count. Of two that claim it in the same moment none may get it.
 *
 * @returns what gives it back
 * @throws E_BUSY while another process, or another part of this one, has it
 */
export const claimRun = (directory: string, run: string): (() => void) => {
  const folder = join(directory, 'runs');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const key = nameOf(run, 32);
  const boot = nameOf(bootId(), 16);
  const own = [key, boot, process.pid, beganAt(process.pid) ?? UNKNOWN, randomBytes(8).toString('hex')].join(
    '.',
  );
  const release = (): void => rmSync(join(folder, own), { force: true });
  closeSync(openRegularFile(join(folder, own), 'new'));
  for (const name of readdirSync(folder)) {
    const [itsKey, itsBoot, pid = '', began = ''] = name.split('.');
    if (name === own || itsKey !== key) continue;
    if (itsBoot === boot && isAlive(Number(pid), began === UNKNOWN ? undefined : began)) {
      release();
      throw fail('E_BUSY', `the run is under way in process ${pid}`, { pid: Number(pid) });
    }
    rmSync(join(folder, name), { force: true });
  }
  return release;
};
