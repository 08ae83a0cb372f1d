import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '{packages,services,examples}/*/{src,test}/**/*.test.{ts,tsx}',
      'bench/src/**/*.test.ts',
      'scripts/*.test.ts',
    ],
    passWithNoTests: true,
    globalSetup: 'scripts/kafka-run.ts',
    setupFiles: 'scripts/properties.ts',
    // Processes that tests start find what the ones before them compiled: half of a start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/stemma-tests') },
    // A machine may be five times slower than ours; no test is decided by these.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // The summary names every test that needed its second try (scripts/tally.ts).
    retry: process.env['CI'] ? 1 : 0,
    pool: 'forks',
    maxWorkers: 2,
  },
});
