import { isPlaceName } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { InterceptFiles } from '@stemma/gateway';
import type { Home } from '@stemma/home';
import { randomBytes } from 'node:crypto';
import { changedVariables, childEnv, exitCodeOf, runChild, upstreamVariables } from '../child-command.ts';
import { addressesOf, redactOf, type TopCommand } from '../command.ts';
import { commitOf } from '../git-commit.ts';
import { defined } from '@stemma/values';
import { harnessOf, withAddress } from '../harnesses.ts';
import { interceptedHosts } from '../intercept.ts';
import { text } from '../options.ts';
import { firstBranchOf, recordProgram } from '../record-program.ts';
import { unrecordedAnswer } from '../recorded-sentences.ts';
import { sayRecorded } from '../say-recorded.ts';
import { recordFiles, workspaceOf } from '../workspace/record-files.ts';

/** Milliseconds that calls have to be recorded after the command has ended; what is left then is recorded by the next command. */
const DRAIN = 30_000;

export const record: TopCommand = {
  name: 'record',
  summary: 'run a command and record every call that it makes to a model',
  group: 'Record and import',
  place: 1,
  example: 'stemma record -- python agent.py',
  runsCommand: true,
  arguments: [['<command...>', 'the command with its arguments; after -- it may begin with anything']],
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
      '--intercept [hosts]',
      'read the calls where they pass, and change nothing of what the command sends: it gets a proxy and a certificate of this run instead of other addresses; hosts are read besides those of known providers',
    ],
    [
      '--upstream <host=url...>',
      'where a host that is intercepted really is: --upstream models.example=http://127.0.0.1:8080/v1',
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
    const { isReadEntry, openCommandRecorder, upstreamsOf, writeInterceptFiles } =
      await import('@stemma/gateway');
    const harness = harnessOf([program, ...args]);
    const intercepted = await interceptedHosts(options, env, harness?.isIntercepted?.(env) === true);
    const run = randomBytes(8).toString('hex');
    const steer = options['steer'] === true ? { steer: true as const } : {};
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
      intercept: intercepted && {
        ...intercepted,
        recordedIn:
          history === undefined
            ? { place: { run, ...steer }, run: null }
            : { place: { name: history, ...steer }, run },
      },
      warn: output.say,
    }).catch(closeWorkspace);
    let files: InterceptFiles | undefined;
    try {
      files =
        recorder.intercept &&
        intercepted &&
        (await writeInterceptFiles(env, recorder.intercept, (entry) => isReadEntry(entry, intercepted)));
      const steered = options['steer'] === true ? 'steer/' : '';
      const within = history === undefined ? '' : `history/${encodeURIComponent(history)}/`;
      const url = `${recorder.url}/proxy/${steered}${within}run/${run}`;
      const child = files === undefined ? childEnv(env, url) : { ...env, ...files.variables };
      const command =
        files === undefined ? withAddress([program, ...args], harness, `${url}/openai`) : [program, ...args];
      const commit = await asked;
      const ended = await runChild(program, command.slice(1), child, signal, { began: recorder.follow });
      const exitCode = exitCodeOf(ended.end);
      const tunnelled = recorder.intercept?.tunnelled();
      const looked = workspace?.end();
      const waiting = await recorder.drained(DRAIN);
      const counts = recorder.calls();
      const opened = (): Promise<Home> => open({ create: true });
      const changed = await recordFiles(
        opened,
        { run, in: firstBranchOf(counts), workspace, looked },
        output.say,
      );
      await recordProgram(opened, counts, output.say, {
        ...{ run, commit, directory: workingDirectory, ...ended },
        command: [program, ...args],
        variables: changedVariables(env, child),
      });
      await sayRecorded({ counts, waiting, tunnelled, history }, opened, output.say);
      if (output.json)
        await output.result(
          {
            ...{ exitCode, run, waiting, ...counts, ...unrecordedAnswer(counts) },
            ...defined({ files: changed, tunnelled }),
          },
          () => '',
        );
      return exitCode;
    } finally {
      await workspace?.close();
      await files?.remove();
      await recorder.close();
    }
  },
};
