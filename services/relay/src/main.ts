import { errorToJson, fail, isStemmaError, visibleText } from '@stemma/errors';
import { untilEnded } from '@stemma/metrics';
import { runRelay } from './relay.ts';

// configure: STEMMA_RELAY_TO (kafka://HOST:PORT/TOPIC), STEMMA_HOME (default ./.stemma), STEMMA_LOG, STEMMA_ROWS,
// STEMMA_RELAY_FROM=now, STEMMA_STATUS_PORT
const { STEMMA_RELAY_TO, STEMMA_RELAY_FROM, STEMMA_HOME, STEMMA_LOG, STEMMA_ROWS, STEMMA_STATUS_PORT } =
  process.env;
const portOf = (text: string): number => {
  if (!/^\d{1,5}$/.test(text))
    throw fail('E_USAGE', `STEMMA_STATUS_PORT is ${JSON.stringify(text)}, not a port`);
  return Number(text);
};

try {
  if (!STEMMA_RELAY_TO) throw fail('E_USAGE', 'STEMMA_RELAY_TO is not set: kafka://HOST:PORT/TOPIC');
  const { events } = await runRelay({
    directory: STEMMA_HOME ?? '.stemma',
    to: STEMMA_RELAY_TO,
    fromNow: STEMMA_RELAY_FROM === 'now',
    ...(STEMMA_LOG && { log: STEMMA_LOG }),
    ...(STEMMA_ROWS && { rows: STEMMA_ROWS }),
    ...(STEMMA_STATUS_PORT && { statusPort: portOf(STEMMA_STATUS_PORT) }),
    signal: untilEnded(),
    say: (sentence) => console.log(visibleText(sentence)),
  });
  console.log(`${events} events were published`);
} catch (error) {
  console.error(visibleText(JSON.stringify(errorToJson(error))));
  process.exitCode = isStemmaError(error) ? error.row.exit : 1;
}
