import { isPlaceName } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { randomBytes } from 'node:crypto';
import { changedVariables, childEnv, exitCodeOf, runChild, upstreamVariables } from '../child-command.ts';
import { addressesOf, redactOf, type TopCommand } from '../command.ts';
import { commitOf } from '../git-commit.ts';
import { defined } from '@stemma/values';
import { text } from '../options.ts';
import { firstBranchOf, recordProgram } from '../record-program.ts';
import { titleOf } from '../titles.ts';
import { recordedSentences, unrecordedAnswer } from '../recorded-sentences.ts';
import { recordFiles, workspaceOf } from '../workspace/record-files.ts';

/** Milliseconds that calls have to be recorded after the command has ended; what is left then is recorded by the next command. */
const DRAIN = 30_000;

export const record: TopCommand = {
  name: 'record',
  summary: 'run a command and record every call that it makes to a model',
  group: 'Record and import',
  place: 1,
  example: 'stemma record -- python agent.py',
  arguments: [['<command...>', 'the command with its arguments, after --']],
  options: [
    [
      '--history <history>',
      'the history or branch that the calls belong to, started if there is none (default: new ones, found by what is said)',
    ],
    [
      '--workspace [directory]',
      'record which files of the directory change, and what tool call each change is put down to; what git ignores is left out (default: the current one)',
    ],
    [
      '--steer',
      'let observers steer the calls: what they change is in what goes out, and breakpoints hold calls',
    ],
  ],
  run: async ({ directory, env, output, signal, home: open }, [command], options) => {
    const [program, ...args] = command as readonly string[];
    if (program === undefined || program === '') throw fail('E_USAGE', 'give a command after --');
    const history = text(options, 'history')?.normalize('NFC');
    if (history !== undefined && !isPlaceName(history))
      throw fail('E_USAGE', `${JSON.stringify(history.slice(0, 140))} names no history or branch`);
    const { openCommandRecorder, upstreamsOf } = await import('@stemma/gateway');
    const workingDirectory = process.cwd();
    const asked = commitOf(workingDirectory, env);
    const workspace = await workspaceOf(options['workspace'], { home: directory, env, say: output.say });
    const closeWorkspace = async (error: unknown): Promise<never> => {
      await workspace?.close();
      throw error;
    };
    const recorder = await openCommandRecorder({
      home: { directory, create: true, ...addressesOf(env), ...redactOf(options, env) },
      upstreams: upstreamsOf(upstreamVariables(env)),
      callBegan: workspace?.callBegan,
      warn: output.say,
    }).catch(closeWorkspace);
    try {
      const run = randomBytes(8).toString('hex');
      const steered = options['steer'] === true ? 'steer/' : '';
      const within = history === undefined ? '' : `history/${encodeURIComponent(history)}/`;
      const child = childEnv(env, `${recorder.url}/proxy/${steered}${within}run/${run}`);
      const commit = await asked;
      const ended = await runChild(program, args, child, signal, { began: recorder.follow });
      const exitCode = exitCodeOf(ended.end);
      const looked = workspace?.end();
      const waiting = await recorder.drained(DRAIN);
      const counts = recorder.calls();
      const opened = (): Promise<Home> => open({ create: true });
      const files = await recordFiles(
        opened,
        { run, in: firstBranchOf(counts), workspace, looked },
        output.say,
      );
      await recordProgram(opened, counts, output.say, {
        ...{ run, commit, directory: workingDirectory, ...ended },
        command: [program, ...args],
        variables: changedVariables(env, child),
      });
      const names = await namesOf(counts.histories, history, opened);
      for (const sentence of recordedSentences(counts, waiting, names)) output.say(sentence);
      if (counts.branches.length > 1)
        for (const line of linesOf(
          counts.branches,
          new Map(counts.histories.map((id, i) => [id, names[i] ?? id])),
        ))
          output.say(line);
      if (output.json)
        await output.result(
          { exitCode, run, waiting, ...counts, ...unrecordedAnswer(counts), ...defined({ files }) },
          () => '',
        );
      return exitCode;
    } finally {
      await workspace?.close();
      await recorder.close();
    }
  },
};

/** What people call the histories. @param given the name that was given to the one history */
const namesOf = async (
  histories: readonly string[],
  given: string | undefined,
  open: () => Promise<Home>,
): Promise<readonly string[]> => {
  if (given !== undefined && histories.length === 1) return [given];
  if (histories.length === 0) return [];
  try {
    const home = await open();
    return await Promise.all(histories.map((history) => titleOf(home, history)));
  } catch {
    return histories; // the calls are recorded: their ids name them, too
  }
};

/** The branches that are named, of many. */
const MOST_BRANCHES = 20;

/** Each branch that calls were recorded on, and how to list them. @param names by the histories' ids */
const linesOf = (
  branches: readonly { readonly history: string; readonly branchId: number; readonly calls: number }[],
  names: ReadonlyMap<string, string>,
): readonly string[] => {
  const lines = branches.slice(0, MOST_BRANCHES).map(({ history, branchId, calls }) => {
    const name = names.get(history) ?? history;
    const place = branchId === 0 ? name : `${history}:${branchId}`;
    return `  ${calls} ${calls === 1 ? 'call' : 'calls'} in ${name}${branchId === 0 ? '' : `, branch ${branchId}`}: stemma calls ${place}`;
  });
  const left = branches.length - lines.length;
  return left === 0 ? lines : [...lines, `  and on ${left} more branches: stemma histories lists them`];
};
