import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { SlowestFirst } from './scripts/slowest-first.ts';
import { longFiles } from './scripts/long-files.ts';
import { testTags } from './scripts/rule-tags.ts';
import { LEFT_OUT, stage, TIERS } from './scripts/test-tiers.ts';

const builtThreads = new URL('./scripts/built-threads.mjs', import.meta.url).href;
const long = stage === 'long' ? longFiles() : [];
const folders = ['{packages/*,services,examples}/*/{src,test}/**', 'bench/src/**', 'scripts'];

export default defineConfig({
  test: {
    globalSetup: 'scripts/kafka-run.ts',
    pool: 'forks',
    execArgv: process.env['STEMMA_TEST_BUILT'] === '1' ? ['--import', builtThreads] : [],
    // Node.js loads the sources itself, as it does for users of the checkout: a tenth less work than by way of Vite.
    experimental: { viteModuleRunner: false },
    // Many tests wait for processes that they start. In CI static checks run beside them, or sizes are larger.
    maxWorkers: process.env['CI'] ? 2 : 3,
    sequence: { sequencer: SlowestFirst },
    // A test that cites a rule which does not exist fails.
    tags: testTags(import.meta.dirname, stage),
    projects: TIERS.map((tier) => ({
      extends: true,
      test: {
        name: tier,
        // Tests of these leave nothing behind for the next file, for which nothing need be loaded anew (decision 0050).
        isolate: tier === 'e2e',
        include:
          stage === 'long'
            ? long.filter((file) => file.includes(`.${tier}.test.`))
            : folders.map((folder) => `${folder}/*.${tier}.test.{ts,tsx}`),
        exclude: [
          ...configDefaults.exclude,
          ...(stage === 'short' ? LEFT_OUT.map((part) => `**/*${part}*`) : []),
        ],
        setupFiles: join(import.meta.dirname, 'scripts/properties.ts'),
        // Processes that tests start find what the ones before them compiled: half of a start.
        env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/stemma-tests') },
        // A machine may be five times slower than ours; no test is decided by these.
        testTimeout: 180_000,
        hookTimeout: 180_000,
        expect: { poll: { timeout: 60_000 } },
        // The summary names every test that needed its second try (scripts/tally.ts).
        retry: process.env['CI'] ? 1 : 0,
      },
    })),
  },
});
