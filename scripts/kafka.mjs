import { install, pnpm } from './pnpm.mjs';

install();
process.exitCode = pnpm('--silent', 'exec', 'node', 'scripts/kafka.ts');
