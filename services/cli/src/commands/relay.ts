import { fail } from '@stemma/errors';
import type { CommandSpec } from '../command.ts';
import { text, whole } from '../options.ts';

export const relay: CommandSpec = {
  name: 'relay',
  summary: 'publish every accepted event as one record of a Kafka topic, until Ctrl-C',
  arguments: [],
  options: [
    ['--to <topic>', 'kafka://HOST:PORT[,HOST:PORT]/TOPIC[?partitions=N]; made if it is not there'],
    ['--from-now', 'the first time, leave out what is in the log already'],
    ['--again', 'publish everything once more'],
    ['--status-port <n>', 'say how it is, on this port of 127.0.0.1: /metrics, /health/live, /health/ready'],
    ['--once', 'end when everything that is in the log was published'],
  ],
  run: async ({ directory, env, output, signal }, _args, options) => {
    const to = text(options, 'to') ?? env['STEMMA_RELAY_TO'];
    if (to === undefined) throw fail('E_USAGE', 'relay takes --to kafka://HOST:PORT/TOPIC');
    const { STEMMA_LOG: log = '', STEMMA_ROWS: rows = '' } = env;
    const statusPort = whole(options, 'statusPort', { least: 0, most: 65_535 });
    // Only this command needs it.
    const { runRelay } = await import('@stemma/relay');
    const report = await runRelay({
      directory,
      to,
      ...(log !== '' && { log }),
      ...(statusPort !== undefined && { statusPort }),
      ...(rows !== '' && { rows }),
      fromNow: options['fromNow'] === true,
      fromStart: options['again'] === true,
      once: options['once'] === true,
      signal,
      say: output.say,
    });
    const { events, topic, held, closed } = report;
    await output.result(
      report,
      () =>
        `${events} events were published to ${topic}\n` +
        held.map((history) => `held back, for it is not whole: ${history}\n`).join('') +
        closed.map((partition) => `closed by a damaged record: partition ${partition}\n`).join(''),
    );
    return held.length + closed.length === 0 ? 0 : 5;
  },
};
