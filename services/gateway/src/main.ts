import { errorToJson, fail, isStemmaError, visibleText } from '@stemma/errors';
import { finishWithin, untilEnded } from '@stemma/metrics';
import { defined } from '@stemma/values';
import { once } from 'node:events';
import { upstreamsOf } from './proxy/address.ts';
import { queryTimeoutOf, serveHome } from './serve-home.ts';

// configure: STEMMA_HOME (default ./.stemma), STEMMA_PORT, STEMMA_HOST, STEMMA_LOG, STEMMA_ROWS, STEMMA_REDACT, STEMMA_PRICES, STEMMA_QUERY_TIMEOUT (seconds), STEMMA_UPSTREAM_OPENAI, STEMMA_UPSTREAM_ANTHROPIC, STEMMA_MINDS and the keys and limits of minds
const { STEMMA_HOME, STEMMA_LOG, STEMMA_ROWS, STEMMA_REDACT, STEMMA_PRICES } = process.env;
const { STEMMA_PORT, STEMMA_HOST } = process.env;
const portOf = (text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw fail('E_USAGE', `STEMMA_PORT is ${JSON.stringify(text)}, not a port`);
  return Number(text);
};
try {
  const ended = untilEnded();
  // open
  const gateway = await serveHome({
    home: {
      directory: STEMMA_HOME ?? '.stemma',
      create: true,
      ...defined({
        catchUpTimeout: STEMMA_ROWS ? undefined : 5_000,
        log: STEMMA_LOG || undefined,
        rows: STEMMA_ROWS || undefined,
        prices: STEMMA_PRICES || undefined,
        redact: STEMMA_REDACT || undefined,
      }),
    },
    ...defined({ port: STEMMA_PORT === undefined ? undefined : portOf(STEMMA_PORT), host: STEMMA_HOST }),
    queryTimeout: queryTimeoutOf(process.env),
    upstreams: upstreamsOf(process.env),
  });
  console.log(`Stemma is at ${gateway.url}`);
  // run
  if (!ended.aborted) await once(ended, 'abort');
  // close
  await finishWithin(25_000, () => gateway.close());
} catch (error) {
  console.error(visibleText(JSON.stringify(errorToJson(error))));
  process.exitCode = isStemmaError(error) ? error.row.exit : 1;
}
