import { errorToJson, fail, isStemmaError, visibleText } from '@stemma/errors';
import { untilEnded } from '@stemma/metrics';
import { parseArgs } from 'node:util';
import { runProjector } from './run-projector.ts';

// configure: --read-model PATH of a read model of one's own (default: all of Stemma's), STEMMA_LOG, STEMMA_ROWS, STEMMA_HOME (default ./.stemma), STEMMA_STATUS_PORT,
// STEMMA_SILENCE_MS
const { STEMMA_LOG, STEMMA_ROWS, STEMMA_HOME, STEMMA_STATUS_PORT, STEMMA_SILENCE_MS } = process.env;

try {
  const { values } = parseArgs({ options: { 'read-model': { type: 'string' } } });
  const readModel = values['read-model'];
  if (!STEMMA_ROWS) throw fail('E_USAGE', 'STEMMA_ROWS is not set: postgres://USER@HOST:PORT/DATABASE');
  if (STEMMA_STATUS_PORT && !/^\d{1,5}$/.test(STEMMA_STATUS_PORT))
    throw fail('E_USAGE', `STEMMA_STATUS_PORT is ${JSON.stringify(STEMMA_STATUS_PORT)}, not a port`);
  if (STEMMA_SILENCE_MS && !/^[1-9]\d{2,5}$/.test(STEMMA_SILENCE_MS))
    throw fail('E_USAGE', `STEMMA_SILENCE_MS is ${JSON.stringify(STEMMA_SILENCE_MS)}, not 100 to 999999`);
  await runProjector({
    ...(readModel !== undefined && { readModel }),
    rows: STEMMA_ROWS,
    directory: STEMMA_HOME ?? '.stemma',
    ...(STEMMA_LOG && { log: STEMMA_LOG }),
    ...(STEMMA_STATUS_PORT && { statusPort: Number(STEMMA_STATUS_PORT) }),
    ...(STEMMA_SILENCE_MS && { silence: Number(STEMMA_SILENCE_MS) }),
    signal: untilEnded(),
    say: (sentence) => console.log(visibleText(sentence)),
  });
} catch (error) {
  console.error(visibleText(JSON.stringify(errorToJson(error))));
  process.exitCode = isStemmaError(error) ? error.row.exit : 1;
}
