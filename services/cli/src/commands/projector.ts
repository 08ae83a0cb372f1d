import { fail } from '@stemma/errors';
import type { TopCommand } from '../command.ts';
import { text, whole } from '../options.ts';

export const projector: TopCommand = {
  name: 'projector',
  summary: 'keep the rows in STEMMA_ROWS up to date, until Ctrl-C',
  group: 'Run services',
  example: 'stemma projector',
  arguments: [],
  serves: () => true,
  options: [
    ['--read-model <path>', 'a module with a read model of your own (default: all read models of Stemma)'],
    ['--status-port <n>', 'the port for health and metrics; 0 takes any free port (default: none)'],
    ['--silence <ms>', 'after how many ms without a sign of life others take its partitions (default: 2000)'],
  ],
  run: async ({ directory, env, output, signal }, _args, options) => {
    const readModel = text(options, 'readModel');
    const { STEMMA_LOG: log = '', STEMMA_ROWS: rows = '' } = env;
    if (rows === '')
      throw fail('E_USAGE', 'STEMMA_ROWS is not set: set it to postgres://USER@HOST:PORT/DATABASE');
    const statusPort = whole(options, 'statusPort', { least: 0, most: 65_535 });
    const silence = whole(options, 'silence', { least: 100, most: 999_999 });
    // Only this command needs it.
    const { runProjector } = await import('@stemma/projector-service');
    const location = { directory, rows, ...(log !== '' && { log }) };
    const given = {
      ...(statusPort !== undefined && { statusPort }),
      ...(silence !== undefined && { silence }),
    };
    await runProjector({
      ...(readModel !== undefined && { readModel }),
      ...location,
      ...given,
      signal,
      say: output.say,
    });
    return undefined;
  },
};
