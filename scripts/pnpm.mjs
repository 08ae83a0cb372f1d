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

/** Installs what the lock file says; ends the process if that fails. */
export function install() {
  const code = pnpm('install', '--frozen-lockfile', '--reporter=append-only');
  if (code !== 0) {
    console.error('The installation failed; nothing was run.');
    process.exit(code);
  }
}
