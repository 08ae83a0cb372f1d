import { text } from '../../options.ts';
import type { Context } from '../../command.ts';
import type { PreparedRerun } from '../prepare-rerun.ts';
import { newRerunId } from '../rerun-id.ts';
import type { RerunServer } from '../rerun-server.ts';
import { armsOf } from './arms.ts';
import { compareArms } from './compare-arms.ts';
import type { OftenAsked } from './often-options.ts';
import { runArms } from './run-arms.ts';
import { showArms } from './show-arms.ts';

/**
 * Runs a command more than once, in one arm or several, and shows how often each passed.
 *
 * @returns 5 if a call of a run differs, else 1 if one has failed, else 0
 */
export const rerunOften = async (
  context: Context,
  server: RerunServer,
  prepared: PreparedRerun,
  asked: OftenAsked,
  options: Readonly<Record<string, unknown>>,
): Promise<number> => {
  const name = text(options, 'name') ?? (await newRerunId());
  const arms = await armsOf(context, prepared, asked, { name, options });
  if (asked.jobs > 1 && prepared.workspace === null)
    context.output.say(`${asked.jobs} runs at a time share the directory ${prepared.toStart.directory}`);
  const runs = await runArms(context, server, prepared, arms, asked);
  const waiting = await server.drained();
  if (waiting > 0)
    context.output.say(`${waiting} entries of live calls wait: the next stemma record or up records them`);
  const measured = await compareArms(context, prepared, arms, runs);
  const exits = runs.map(({ report, passed }) => (report.exit === 0 && !passed ? 1 : report.exit));
  const exit = exits.includes(5) ? 5 : exits.includes(1) ? 1 : 0;
  const { times, jobs } = asked;
  await showArms(context, {
    ...{ of: prepared.run.run ?? prepared.name, history: prepared.name, times, jobs, exit, arms: measured },
  });
  return exit;
};
