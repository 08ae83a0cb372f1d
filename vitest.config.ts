import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '{packages,services}/*/{src,test}/**/*.test.{ts,tsx}',
      'bench/src/**/*.test.ts',
      'scripts/*.test.ts',
    ],
    passWithNoTests: true,
    globalSetup: 'scripts/kafka-run.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
