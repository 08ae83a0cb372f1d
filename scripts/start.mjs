import { join } from 'node:path';
import { install, pnpm, root, run } from './pnpm.mjs';

install();
const built = pnpm('--silent', 'run', 'build');
process.exitCode =
  built === 0 ? run(join(root, 'stemma'), ['up', '--sample', ...process.argv.slice(2)]) : built;
