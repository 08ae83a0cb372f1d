// Runs on the machine's own Node.js (18 or newer), before anything is installed: no dependency, no TypeScript.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// When npm itself was started by npx (`npx -p node@18 npm test`), these would be taken for options of ours.
const { npm_config_call: _call, npm_config_package: _package, ...inherited } = process.env;

/** Runs a program in the root of the workspace and returns its exit code (128 + n when a signal ended it). */
export function run(program, args) {
  // On Windows npm's programs are scripts, which only a shell starts.
  return spawned(program, args, process.platform === 'win32');
}

/** The same for a program by its path, whatever characters are in it. */
export function runFile(path, args) {
  return spawned(path, args, false);
}

/**
 * Runs the pinned pnpm behind one line that says what is done; what it prints is shown only if it fails. Returns its exit
 * code.
 */
export function pnpmQuietly(what, ...args) {
  process.stderr.write(`${what} …\n`);
  const shell = process.platform === 'win32';
  const options = { cwd: root, env: inherited, shell, encoding: 'utf8', maxBuffer: 1 << 30 };
  const result = spawnSync('npx', ['-y', packageManager, ...args], options);
  if (result.status === 0) return 0;
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  if (result.error) process.stderr.write(`npx: ${result.error.message}\n`);
  return result.status ?? 1;
}

function spawned(program, args, shell) {
  const result = spawnSync(program, args, { cwd: root, stdio: 'inherit', env: inherited, shell });
  if (result.error) {
    console.error(`${program}: ${result.error.message}`);
    return 1;
  }
  return result.status ?? 1;
}

/** Runs the pnpm that package.json pins, fetched by npx if it is not there, and returns its exit code. */
export function pnpm(...args) {
  return run('npx', ['-y', packageManager, ...args]);
}

const INSTALL = ['install', '--frozen-lockfile', '--reporter=append-only'];

/** Installs what the lock file says; ends the process if that fails. */
export function install() {
  endIfFailed(pnpm(...INSTALL));
}

/** The same behind one line. */
export function installQuietly() {
  endIfFailed(pnpmQuietly('Installing', ...INSTALL));
}

function endIfFailed(code) {
  if (code === 0) return;
  console.error('The installation failed; nothing was run.');
  process.exit(code);
}
