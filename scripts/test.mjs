import { install, pnpm } from './pnpm.mjs';

install();
process.exitCode = pnpm('--silent', 'run', 'verify');
