import { join } from 'node:path';
import { install, root, run } from './pnpm.mjs';

install();
process.exitCode = run(join(root, 'stemma'), ['up', '--sample', ...process.argv.slice(2)]);
