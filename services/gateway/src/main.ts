import { errorToJson, fail, isStemmaError } from '@stemma/errors';
import { openHome } from '@stemma/home';
import { once } from 'node:events';
import { serveGateway } from './serve.ts';

// configure: STEMMA_HOME (default ./.stemma), STEMMA_PORT, STEMMA_HOST, STEMMA_LOG
const { STEMMA_HOME, STEMMA_LOG, STEMMA_PORT, STEMMA_HOST } = process.env;
const portOf = (text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw fail('E_USAGE', `STEMMA_PORT is ${JSON.stringify(text)}, not a port`);
  return Number(text);
};

try {
  // open
  const home = await openHome({
    directory: STEMMA_HOME ?? '.stemma',
    create: true,
    ...(STEMMA_LOG && { log: STEMMA_LOG }),
  });
  const gateway = await serveGateway({
    home,
    ...(STEMMA_PORT === undefined ? {} : { port: portOf(STEMMA_PORT) }),
    ...(STEMMA_HOST === undefined ? {} : { host: STEMMA_HOST }),
    report: (error) => console.error(error),
  });
  console.log(`Stemma is at ${gateway.url}`);
  // run
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  // close
  await gateway.close();
  await home.close();
} catch (error) {
  console.error(JSON.stringify(errorToJson(error)));
  process.exitCode = isStemmaError(error) ? error.row.exit : 1;
}
