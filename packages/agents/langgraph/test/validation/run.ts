import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Runs LangGraph's validation of savers, whole: `STEMMA_URL=… node run.ts`. It is a program, as the validation brings another vitest, whose
 * `describe` and `it` it expects to be there.
 */
type Vitest = {
  readonly startVitest: (
    mode: 'test',
    filters: string[],
    options: object,
  ) => Promise<{ readonly close: () => Promise<void> }>;
};

const require = createRequire(import.meta.url);
const validation = require.resolve('@langchain/langgraph-checkpoint-validation/package.json');
const vitest = dirname(createRequire(validation).resolve('vitest/package.json'));
const { startVitest } = (await import(join(vitest, 'dist/node.js'))) as Vitest;
const running = await startVitest('test', [], {
  ...{ config: false, root: import.meta.dirname, include: ['checks.ts'] },
  ...{ watch: false, globals: true, testTimeout: 60_000, hookTimeout: 60_000, reporters: ['dot'] },
});
await running.close();
