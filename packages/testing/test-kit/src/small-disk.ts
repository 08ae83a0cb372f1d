import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own, of a known size. */
export type SmallDisk = {
  readonly path: string;
  /** Takes all room but so many bytes. */
  fill(left: number): void;
  /** Gives the room back that {@link fill} took. */
  free(): void;
  close(): void;
};

/** Why a test is skipped that needs one. */
export const NO_SMALL_DISK = 'only root may mount a file system of a known size';

/** A disk in memory with so many KiB; undefined where nobody may mount one. */
export const mountSmallDisk = (kibibytes: number): SmallDisk | undefined => {
  const path = mkdtempSync(join(tmpdir(), 'stemma-disk-'));
  const ballast = join(path, 'ballast');
  if (!run('mount', '-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', path)) {
    rmSync(path, { recursive: true, force: true });
    return undefined;
  }
  const free = (): void => rmSync(ballast, { force: true });
  return {
    path,
    fill(left) {
      free();
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - left)));
    },
    free,
    close() {
      run('umount', '-l', path);
      rmSync(path, { recursive: true, force: true });
    },
  };
};

/** Shows a folder once more at another place, where nothing can be written; undefined where nobody may mount. */
export const mountReadOnly = (folder: string): { readonly path: string; close(): void } | undefined => {
  const path = mkdtempSync(join(tmpdir(), 'stemma-read-only-'));
  const close = (): void => {
    run('umount', '-l', path);
    rmSync(path, { recursive: true, force: true });
  };
  if (run('mount', '--bind', folder, path) && run('mount', '-o', 'remount,ro,bind', path))
    return { path, close };
  run('umount', '-l', path);
  rmSync(path, { recursive: true, force: true });
  return undefined;
};

const run = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { timeout: 10_000 }).status === 0;
