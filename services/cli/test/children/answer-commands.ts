import { fail, StemmaError } from '@stemma/errors';
import { openAppendJobs, thisMachine, type AppendJobs, type LogMachine } from '@stemma/log-embedded';
import { createInterface } from 'node:readline';
import { holdHome, releaseHome, runStemma } from '../run-stemma.ts';

/*
 * A process that runs command lines one after the other, and says how each ended. Each opens its home afresh, but for the
 * one that a line `{"hold": DIRECTORY}` names: it stays open up to a line `{"hold": null}`. With `--one-thread` it appends in its own
 * thread: to start one takes longer than most commands do.
 */
const startNoThread: LogMachine['startThread'] = (options, onFatal) => {
  let jobs: AppendJobs | undefined;
  return {
    ask: async (job) => {
      jobs ??= openAppendJobs(thisMachine, options);
      const answer = jobs.answer(job);
      if (job.kind === 'close') await jobs.closeLock();
      if (answer.kind === 'failed')
        throw new StemmaError(answer.failure.code, answer.failure.message, answer.failure.detail);
      if (answer.kind !== 'fatal') return answer;
      onFatal(answer.message);
      throw fail('E_IO', answer.message);
    },
    end: async () => undefined,
  };
};
if (process.argv.includes('--one-thread')) Object.assign(thisMachine, { startThread: startNoThread });
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line) as string[] | { readonly hold: string | null };
  if (Array.isArray(asked)) process.stdout.write(`${JSON.stringify(await runStemma(asked))}\n`);
  else {
    await releaseHome();
    if (asked.hold !== null) holdHome(asked.hold);
    process.stdout.write('{"code":0,"stdout":"","stderr":""}\n');
  }
}
