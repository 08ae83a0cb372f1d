import { openRegularFile } from '@stemma/machine';
import { closeSync, fstatSync, mkdtempSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodeOf } from '../../child-command.ts';
import type { Context } from '../../command.ts';
import { newRerunId } from '../rerun-id.ts';
import { recordOnce, runOnce, type OneRerun } from '../one-rerun.ts';
import type { PreparedRerun } from '../prepare-rerun.ts';
import type { RerunServer } from '../rerun-server.ts';
import type { Arm } from './arms.ts';
import type { OftenAsked } from './often-options.ts';

/** What is kept of a run of an arm: there may be many. */
export type ArmRun = Pick<OneRerun, 'id' | 'startedAt' | 'endedAt' | 'end' | 'report' | 'forks'> & {
  readonly arm: Arm;
  readonly passed: boolean;
};

/** So many bytes and lines of the output of a run that failed are shown. */
const TAIL = 2_000;
const MOST_LINES = 8;

/**
 * Runs each arm so often, the first run of all arms first, so that what changes with time changes for all of them. What a run prints
 * goes to a file; of one that fails the end is said.
 *
 * @returns the runs in the order of the arms, however they ended
 * @throws the reason of the signal once it has aborted; runs that have ended are recorded
 */
export const runArms = async (
  context: Context,
  server: RerunServer,
  prepared: PreparedRerun,
  arms: readonly Arm[],
  { times, jobs }: OftenAsked,
): Promise<readonly ArmRun[]> => {
  const { signal, output } = context;
  const asked = Array.from({ length: times }, (_, i) => arms.map((arm) => ({ arm, number: i + 1 }))).flat();
  const done: (ArmRun | undefined)[] = asked.map(() => undefined);
  const directory = mkdtempSync(join(tmpdir(), 'stemma-rerun-'));
  const display = context.progress('reruns');
  let next = 0;
  let ended = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < asked.length; i = next++) {
      signal.throwIfAborted();
      const { arm, number } = asked[i] as (typeof asked)[number];
      const file = join(directory, `${i}.txt`);
      const descriptor = openRegularFile(file, 'new');
      const id = await newRerunId();
      let ran: OneRerun;
      try {
        ran = await runOnce(
          context,
          server,
          { ...prepared, whatIf: arm.whatIf },
          {
            ...{ id, settings: arm.settings, output: { file: descriptor } },
            forkName: `${arm.branchName}-${number}`,
          },
        );
      } finally {
        closeSync(descriptor);
        server.forget(id);
      }
      signal.throwIfAborted();
      await recordOnce(context, prepared, ran, arm.name);
      const passed = hasPassed(ran);
      if (!passed) for (const line of failedLines(arm, number, ran, tailOf(file))) output.say(line);
      const { startedAt, endedAt, end, report, forks } = ran;
      done[i] = { id, startedAt, endedAt, end, report, forks, arm, passed };
      if (!signal.aborted) display.count(++ended, asked.length);
    }
  };
  try {
    // The first error ends the others, too: they begin no further run.
    await Promise.all(
      Array.from({ length: Math.min(jobs, asked.length) }, () =>
        work().catch((error: unknown) => {
          next = asked.length;
          throw error;
        }),
      ),
    );
  } finally {
    display.end();
    rmSync(directory, { recursive: true, force: true });
  }
  const all = done.filter((run) => run !== undefined);
  return arms.flatMap((arm) => all.filter((run) => run.arm === arm));
};

/** True if its check ended with 0; without one, if it did so itself. */
const hasPassed = ({ end, check }: OneRerun): boolean => exitCodeOf((check ?? { end }).end) === 0;

const failedLines = (
  { name }: Arm,
  number: number,
  { end, check }: OneRerun,
  printed: string,
): readonly string[] => {
  const how =
    check === null
      ? `ended with ${exitCodeOf(end)}`
      : `ended with ${exitCodeOf(end)}, its check with ${exitCodeOf(check.end)}`;
  const lines = printed.trim().split('\n').slice(-MOST_LINES);
  return [
    `run ${number} of ${name} ${how}`,
    ...lines.filter((line) => line !== '').map((line) => `  ${line}`),
  ];
};

const tailOf = (path: string): string => {
  const file = openRegularFile(path);
  try {
    const bytes = Buffer.alloc(TAIL);
    return bytes
      .subarray(0, readSync(file, bytes, 0, TAIL, Math.max(0, fstatSync(file).size - TAIL)))
      .toString('utf8');
  } finally {
    closeSync(file);
  }
};
