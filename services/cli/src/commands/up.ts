import { openHome, type Home, type HomeOptions } from '@stemma/home';
import { defined } from '@stemma/values';
import { once } from 'node:events';
import { addressesOf, redactOf, type TopCommand } from '../command.ts';
import { text, whole } from '../options.ts';
import { noteServer } from '../running-server.ts';
import { importSamples } from '../samples.ts';

export const up: TopCommand = {
  name: 'up',
  summary: 'serve the inspector and the HTTP API on this machine until Ctrl-C',
  group: 'Look',
  place: 1,
  example: 'stemma up --sample',
  arguments: [],
  serves: () => true,
  options: [
    ['--port <n>', 'the port (default: 7836, then the next free one)'],
    ['--host <address>', 'a loopback address (default: 127.0.0.1)'],
    [
      '--query-timeout <seconds>',
      'the longest that a question may take (default: STEMMA_QUERY_TIMEOUT, then 30)',
    ],
    ['--sample', 'the bundled samples, imported first if the home is empty'],
  ],
  run: async ({ directory, env, output, signal }, _args, options) => {
    const port = whole(options, 'port', { least: 0, most: 65_535 });
    const seconds = whole(options, 'queryTimeout', { least: 1, most: 86_400 });
    const home = { directory, create: true, ...addressesOf(env), ...redactOf(options, env) };
    // Only this command needs the server, and it is the largest part to load.
    const { queryTimeoutOf, serveHome, upstreamsOf } = await import('@stemma/gateway');
    if (options['sample'] === true) await withHome(home, (opened) => importSamples(opened, output));
    signal.throwIfAborted();
    const server = await serveHome({
      home,
      host: text(options, 'host') ?? '127.0.0.1',
      ...defined({ port }),
      upstreams: upstreamsOf(env),
      queryTimeout: seconds === undefined ? queryTimeoutOf(env) : seconds * 1_000,
    });
    const forget = noteServer(directory, server.url);
    await output.result({ url: server.url }, () => `Stemma runs at ${server.url} (stop with Ctrl-C)\n`);
    if (!signal.aborted) await once(signal, 'abort');
    forget();
    await server.close();
    return undefined;
  },
};

const withHome = async (options: HomeOptions, use: (home: Home) => Promise<void>): Promise<void> => {
  const home = await openHome(options);
  try {
    await use(home);
  } finally {
    await home.close();
  }
};
