import { errorToJson, fail, isStemmaError, visibleText } from '@stemma/errors';
import { untilEnded } from '@stemma/metrics';
import { defined } from '@stemma/values';
import { hostname } from 'node:os';
import { runRunner } from './run-runner.ts';

// configure: STEMMA_HOME (default ./.stemma), STEMMA_LOG, STEMMA_ROWS, STEMMA_RUNNER (what it calls itself),
// STEMMA_RUNS_AT_ONCE, STEMMA_STATUS_PORT, STEMMA_SILENCE_MS, STEMMA_MINDS and the keys of minds
const { env } = process;
const numberIn = (name: string, pattern: RegExp, what: string): number | undefined => {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  if (!pattern.test(text)) throw fail('E_USAGE', `${name} is ${JSON.stringify(text)}, not ${what}`);
  return Number(text);
};

try {
  const { STEMMA_HOME, STEMMA_LOG, STEMMA_ROWS, STEMMA_RUNNER } = env;
  const statusPort = numberIn('STEMMA_STATUS_PORT', /^\d{1,5}$/, 'a port');
  const silence = numberIn('STEMMA_SILENCE_MS', /^[1-9]\d{2,5}$/, '100 to 999999');
  const atOnce = numberIn('STEMMA_RUNS_AT_ONCE', /^[1-9]\d{0,2}$/, '1 to 999');
  await runRunner({
    directory: STEMMA_HOME ?? '.stemma',
    name: (STEMMA_RUNNER ?? `${hostname()} ${process.pid}`).slice(0, 100),
    ...(STEMMA_LOG && { log: STEMMA_LOG }),
    ...(STEMMA_ROWS && { rows: STEMMA_ROWS }),
    ...defined({ statusPort, silence, atOnce }),
    env,
    signal: untilEnded(),
    say: (sentence) => console.log(visibleText(sentence)),
  });
} catch (error) {
  console.error(visibleText(JSON.stringify(errorToJson(error))));
  process.exitCode = isStemmaError(error) ? error.row.exit : 1;
}
