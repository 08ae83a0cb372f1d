import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const folder = new URL('../../peers/', import.meta.url);
const path = (name: string): string => fileURLToPath(new URL(name, folder));

/**
 * Installs what we compare with into bench/peers, exactly as its lock file says, unless it is there. `sqlite3` fetches a
 * binary or, where that is not to be had, compiles it (a C++ compiler and the headers of Node.js; a minute).
 *
 * @returns false if they are not there: each measurement of one says so
 */
export const installPeers = (): boolean => {
  if (existsSync(path('node_modules/.modules.yaml'))) return true;
  process.stderr.write('bench: installing the peers into bench/peers …\n');
  const root = JSON.parse(readFileSync(path('../../package.json'), 'utf8')) as { packageManager: string };
  const { status, error } = spawnSync(
    'npx',
    ['-y', root.packageManager, 'install', '--frozen-lockfile', '--reporter=append-only'],
    { cwd: path('.'), stdio: ['ignore', 2, 2], shell: process.platform === 'win32' },
  );
  if (status === 0) return true;
  process.stderr.write(`bench: the peers could not be installed (${error?.message ?? String(status)})\n`);
  return false;
};

/** A module of a peer, untyped: the peers are not there when this is compiled, so callers say what they use of it. */
export const loadPeer = (name: string): unknown => createRequire(path('package.json'))(name);

/** The version of a peer that is installed. */
export const peerVersion = (name: string): string =>
  (JSON.parse(readFileSync(path(`node_modules/${name}/package.json`), 'utf8')) as { version: string })
    .version;
