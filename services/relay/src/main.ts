import { errorToJson, fail, isStemmaError } from '@stemma/errors';
import { runRelay } from './relay.ts';

// configure: STEMMA_RELAY_TO (kafka://HOST:PORT/TOPIC), STEMMA_HOME (default ./.stemma), STEMMA_LOG, STEMMA_RELAY_FROM=now
const { STEMMA_RELAY_TO, STEMMA_RELAY_FROM, STEMMA_HOME, STEMMA_LOG } = process.env;
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

try {
  if (!STEMMA_RELAY_TO) throw fail('E_USAGE', 'STEMMA_RELAY_TO is not set: kafka://HOST:PORT/TOPIC');
  const { events } = await runRelay({
    directory: STEMMA_HOME ?? '.stemma',
    to: STEMMA_RELAY_TO,
    fromNow: STEMMA_RELAY_FROM === 'now',
    ...(STEMMA_LOG && { log: STEMMA_LOG }),
    signal: stop.signal,
    say: (sentence) => console.log(sentence),
  });
  console.log(`${events} events were published`);
} catch (error) {
  console.error(JSON.stringify(errorToJson(error)));
  process.exitCode = isStemmaError(error) ? error.row.exit : 1;
}
