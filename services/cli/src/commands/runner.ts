import { hostname } from 'node:os';
import type { TopCommand } from '../command.ts';
import { text, whole } from '../options.ts';

export const runner: TopCommand = {
  name: 'runner',
  summary: 'make the rounds that `run --request` asks for, of several pools at once, until Ctrl-C',
  group: 'Run services',
  example: 'STEMMA_MINDS=openai:gpt-4o stemma runner',
  arguments: [],
  serves: ({ once }) => once !== true,
  options: [
    ['--at-once <count>', 'how many branches run at the same time (default: 8)'],
    ['--once', 'end when no run is open'],
    ['--name <name>', 'what the runner calls itself in the log (default: this machine and process)'],
    ['--status-port <n>', 'the port for health and metrics; 0 takes any free port (default: none)'],
    ['--silence <ms>', 'after how many ms without a sign of life others take its runs (default: 2000)'],
  ],
  run: async ({ directory, env, output, signal }, _args, options) => {
    const atOnce = whole(options, 'atOnce', { least: 1, most: 999 });
    const statusPort = whole(options, 'statusPort', { least: 0, most: 65_535 });
    const silence = whole(options, 'silence', { least: 100, most: 999_999 });
    const { STEMMA_LOG: log = '', STEMMA_ROWS: rows = '' } = env;
    // Only this command needs it.
    const { runRunner } = await import('@stemma/runner');
    const report = await runRunner({
      directory,
      name: (text(options, 'name') ?? `${hostname()} ${process.pid}`).slice(0, 100),
      once: options['once'] === true,
      ...(log !== '' && { log }),
      ...(rows !== '' && { rows }),
      ...(atOnce !== undefined && { atOnce }),
      ...(statusPort !== undefined && { statusPort }),
      ...(silence !== undefined && { silence }),
      env,
      signal,
      say: output.say,
    });
    await output.result(report, () => `${report.rounds} rounds made, ${report.ended} runs ended\n`);
    return undefined;
  },
};
