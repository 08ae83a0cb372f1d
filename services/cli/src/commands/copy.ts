import { fail } from '@stemma/errors';
import { copyLog } from '@stemma/operations';
import type { TopCommand } from '../command.ts';
import { text } from '../options.ts';

export const copy: TopCommand = {
  name: 'copy',
  summary: 'copy every history to another log, byte for byte; run it again to resume',
  group: 'Export, back up, erase',
  place: 4,
  example: 'stemma copy --from .stemma --to kafka://127.0.0.1:9092/stemma',
  arguments: [],
  options: [
    ['--from <log>', 'the source: the directory of a home, or kafka://HOST:PORT[,HOST:PORT]/PREFIX'],
    [
      '--to <log>',
      'the target, in the same form: empty, or a partial copy of the source (with Kafka, contents go to --home)',
    ],
  ],
  run: async ({ directory, output, signal, progress: display }, _args, options) => {
    const [from, to] = [text(options, 'from'), text(options, 'to')];
    if (from === undefined || to === undefined) throw fail('E_USAGE', 'copy needs --from LOG and --to LOG');
    const progress = display('frames');
    const report = await copyLog({
      from,
      to,
      directory,
      signal,
      progress: (frames) => progress.count(frames),
    });
    progress.end();
    await output.result(
      report,
      () =>
        `${report.frames} frames of ${report.histories} histories copied` +
        `${report.before > 0 ? `, ${report.before} copied before` : ''}, ${report.contents} contents; both logs are equal\n` +
        report.damaged
          .map((history) => `${history} is damaged: only the frames before the damage are copied\n`)
          .join(''),
    );
    return report.damaged.length === 0 ? 0 : 5;
  },
};
