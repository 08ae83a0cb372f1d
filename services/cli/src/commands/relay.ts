import { fail } from '@stemma/errors';
import type { TopCommand } from '../command.ts';
import { text, whole } from '../options.ts';

export const relay: TopCommand = {
  name: 'relay',
  summary: 'publish every accepted event as one record of a Kafka topic, until Ctrl-C',
  group: 'Run services',
  example: 'stemma relay --to kafka://127.0.0.1:9092/events',
  arguments: [],
  serves: ({ once }) => once !== true,
  options: [
    [
      '--to <topic>',
      'the topic: kafka://HOST:PORT[,HOST:PORT]/TOPIC[?partitions=N]; created if missing (default: STEMMA_RELAY_TO)',
    ],
    ['--from-now', 'only events recorded from now on; for the first run'],
    ['--again', 'all events once more, from the start of the log'],
    [
      '--status-port <n>',
      'the port of 127.0.0.1 for /metrics, /health/live and /health/ready (default: none)',
    ],
    ['--once', 'only the events that are in the log now; then the command ends'],
  ],
  run: async ({ directory, env, output, signal }, _args, options) => {
    const to = text(options, 'to') ?? env['STEMMA_RELAY_TO'];
    if (to === undefined) throw fail('E_USAGE', 'relay needs --to kafka://HOST:PORT/TOPIC');
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
        `${events} events published to ${topic}\n` +
        held.map((history) => `held back because it is damaged or defective: ${history}\n`).join('') +
        closed.map((partition) => `closed by a damaged record: partition ${partition}\n`).join(''),
    );
    return held.length + closed.length === 0 ? 0 : 5;
  },
};
