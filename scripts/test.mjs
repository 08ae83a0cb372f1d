import { install, pnpm } from './pnpm.mjs';

install();
process.exitCode = pnpm('run', 'verify');
