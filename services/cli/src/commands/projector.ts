import { fail } from '@stemma/errors';
import type { CommandSpec } from '../command.ts';
import { text, whole } from '../options.ts';

export const projector: CommandSpec = {
  name: 'projector',
  summary: 'fold the log into the rows of one read model in STEMMA_ROWS, until Ctrl-C',
  arguments: [],
  options: [
    ['--read-model <name>', 'audit, diffs, stages, or the path of a module of your own'],
    ['--status-port <n>', 'answer for health and metrics there (0: any port)'],
  ],
  run: async ({ directory, env, output, signal }, _args, options) => {
    const readModel = text(options, 'readModel');
    if (readModel === undefined) throw fail('E_USAGE', 'projector takes --read-model');
    const { STEMMA_LOG: log = '', STEMMA_ROWS: rows = '' } = env;
    if (rows === '') throw fail('E_USAGE', 'STEMMA_ROWS is not set: postgres://USER@HOST:PORT/DATABASE');
    const statusPort = whole(options, 'statusPort', { least: 0, most: 65_535 });
    // Only this command needs it.
    const { runProjector } = await import('@stemma/projector-service');
    const location = { directory, rows, ...(log !== '' && { log }) };
    const status = statusPort === undefined ? {} : { statusPort };
    await runProjector({ readModel, ...location, ...status, signal, say: output.say });
    return undefined;
  },
};
