import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, ForksPoolWorker, startVitest, type TestSpecification } from 'vitest/node';
import { testTags } from '../rule-tags.ts';
import { readJob } from './job.ts';
import { withSwitches, type NumberedMutant } from './schemata.ts';
import { installSwitches } from './switches.ts';

/*
 * Runs vitest once, in a process of its own: `run-vitest.ts FILE…` tries the mutants of the job in these test files, in
 * their order.
 */
// What a run sets up before its tests is loaded here, with the switches, all of them off.
installSwitches();

const root = process.cwd();
const files = process.argv.slice(2);
const { mutants } = readJob();

const byFile = new Map<string, NumberedMutant[]>();
for (const mutant of mutants) {
  const path = join(root, mutant.file);
  byFile.set(path, [...(byFile.get(path) ?? []), mutant]);
}

class AsGiven extends BaseSequencer {
  override async sort(given: TestSpecification[]): Promise<TestSpecification[]> {
    const index = ({ moduleId }: TestSpecification): number => files.indexOf(moduleId.slice(root.length + 1));
    return given.toSorted((a, b) => index(a) - index(b));
  }
}

const vitest = await startVitest(
  [],
  {
    config: false,
    root,
    include: files,
    watch: false,
    // What was compiled for other mutants must not be found.
    fsModuleCache: false,
    isolate: false,
    maxWorkers: 1,
    pool: {
      name: 'mutants',
      createPoolWorker: (options) => {
        const worker = new ForksPoolWorker(options);
        const entrypoint = join(import.meta.dirname, 'worker.ts');
        // Compiled texts go through the pipe: files in a shared folder would be those of another run.
        Object.assign(worker, { name: 'mutants', entrypoint, cacheFs: false });
        return worker;
      },
    },
    runner: join(import.meta.dirname, 'runner.ts'),
    globalSetup: 'scripts/kafka-run.ts',
    setupFiles: [join(import.meta.dirname, '../properties.ts'), join(import.meta.dirname, 'no-shrinking.ts')],
    sequence: { sequencer: AsGiven },
    tags: testTags(root),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    reporters: [{}],
    silent: true,
    update: false,
    dangerouslyIgnoreUnhandledErrors: true,
    passWithNoTests: true,
    env: { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/stemma-tests') },
  },
  {
    plugins: [
      {
        name: 'mutants',
        enforce: 'pre',
        transform: (_, id) => {
          const found = byFile.get(id.split('?')[0] ?? '');
          return found === undefined
            ? undefined
            : { code: withSwitches(readFileSync(id.split('?')[0] ?? '', 'utf8'), found), map: null };
        },
      },
    ],
  },
);
await vitest.close();
process.exit();
