import { once } from 'node:events';
import type { CommandSpec } from '../command.ts';
import { text, whole } from '../options.ts';
import { importSamples } from '../samples.ts';

export const up: CommandSpec = {
  name: 'up',
  summary: 'serve the inspector and the HTTP API on this machine until Ctrl-C',
  arguments: [],
  options: [
    ['--port <n>', 'the port (default: 4317, then the next free one)'],
    ['--host <address>', 'a loopback address (default: 127.0.0.1)'],
    ['--sample', 'the bundled samples, imported first if the home is empty'],
  ],
  run: async ({ home: open, output, signal }, _args, options) => {
    const port = whole(options, 'port', { least: 0, most: 65_535 });
    const host = text(options, 'host') ?? '127.0.0.1';
    // Only this command needs the server, and it is the largest part to load.
    const { openGatewayMetrics, serveGateway } = await import('@stemma/gateway');
    const { metrics, observe, opened } = openGatewayMetrics();
    const home = await open({ create: true, observe });
    opened(home);
    if (options['sample'] === true) await importSamples(home, output);
    const server = await serveGateway({ home, metrics, host, ...(port === undefined ? {} : { port }) });
    await output.result({ url: server.url }, () => `Stemma runs at ${server.url} (stop with Ctrl-C)\n`);
    if (!signal.aborted) await once(signal, 'abort');
    await server.close();
    return undefined;
  },
};
