import { fail } from '@stemma/errors';
import { readRegularFile, replaceFile } from '@stemma/machine';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Context, TopCommand } from '../command.ts';
import { printable } from '../output.ts';
import { QUICKSTART } from '../samples.ts';

const FILES = ['TASK.md', 'fare.mjs', 'fare.test.mjs', 'agent.mjs', 'run.stemma'];

/** The sentence of the task that is another one in the second rerun. */
const CHANGED = ['A day never costs more than 9 crowns', 'A day never costs more than 12 crowns'] as const;

export const quickstart: TopCommand = {
  name: 'quickstart',
  summary:
    'see a recorded agent run again, and where it parts when one sentence is another: no key, no network',
  group: 'Record and import',
  place: 7,
  example: 'stemma quickstart',
  arguments: [['[directory]', 'the directory to make, with the project (default: stemma-quickstart)']],
  options: [['--no-open', 'do not open the second rerun in a browser at the end']],
  serves: ({ open }) => open !== false,
  run: async (context, [given], options) => {
    const { output } = context;
    if (output.json) throw fail('E_USAGE', 'quickstart is for people: it has no --json');
    const directory = resolve(typeof given === 'string' ? given : 'stemma-quickstart');
    const home = join(directory, '.stemma');
    const name = await makeProject(directory, home);
    const shown = printable(relative('.', directory) || '.');
    const show = (words: string): Promise<void> => output.write(`${words}\n`);
    const step = stepsIn(context, directory, home);
    await show(
      `${shown} has a small program with a fault, and an agent that mends it. What the agent hears was recorded:`,
    );
    await show(
      'a scripted model of ours said it, no real one. Nobody is asked now; the agent and its tools run for real.\n',
    );
    await step('node', ['fare.test.mjs']);
    await show('\nThe recorded agent runs again, answered from the recording:\n');
    await step('stemma', ['rerun', name, '--', 'node', 'agent.mjs']);
    await step('node', ['fare.test.mjs']);
    await show(
      `\nThe same, with one changed sentence in TASK.md, and with the fault:\n- ${CHANGED[0]}\n+ ${CHANGED[1]}\n`,
    );
    await restoreFault(directory);
    await step('stemma', ['rerun', name, '--', 'node', 'agent.mjs']);
    await show(
      `\nGo on in ${shown}: put the sentence back, or change another one, or the prompt of agent.mjs, and`,
    );
    await show(`  stemma rerun ${name} -- node agent.mjs`);
    await show('Your own agent: `stemma record -- COMMAND`, then `stemma rerun HISTORY -- COMMAND`.');
    await show('Without a home, as in CI: `stemma rerun run.stemma -- node agent.mjs`.');
    if (options['open'] === false) return undefined;
    await show('');
    return (await step('stemma', ['open', name, '--show', 'rerun'])) ?? undefined;
  },
};

/** Copies the project, and makes a home of its recording. @returns the name of the recorded history */
const makeProject = async (directory: string, home: string): Promise<string> => {
  if (existsSync(directory) && readdirSync(directory).length > 0)
    throw fail('E_USAGE', `${directory} is not empty: name a directory that is not there`);
  for (const file of FILES) cpSync(join(QUICKSTART, file), join(directory, file));
  const { unpackBundle } = await import('@stemma/operations');
  return (await unpackBundle(join(directory, 'run.stemma'), home)).name;
};

const restoreFault = async (directory: string): Promise<void> => {
  cpSync(join(QUICKSTART, 'fare.mjs'), join(directory, 'fare.mjs'));
  const task = join(directory, 'TASK.md');
  await replaceFile(
    task,
    readRegularFile(task)
      .toString()
      .replace(...CHANGED),
  );
};

/** Shows a command line, and runs it in the project; gives its exit code. `node` and `stemma` are those of this process. */
const stepsIn =
  ({ output, env, signal }: Context, directory: string, home: string) =>
  async (program: 'node' | 'stemma', args: readonly string[]): Promise<number | null> => {
    await output.write(`$ ${[program, ...args].join(' ')}\n`);
    const own = program === 'node' ? [] : [process.argv[1] ?? ''];
    const child = spawn(process.execPath, [...own, ...args], {
      cwd: directory,
      env: { ...env, STEMMA_HOME: home, STEMMA_LOG: undefined, STEMMA_ROWS: undefined },
      stdio: 'inherit',
    });
    const stop = (): void => void child.kill('SIGTERM');
    signal.addEventListener('abort', stop);
    const [code] = (await once(child, 'exit')) as [number | null];
    signal.removeEventListener('abort', stop);
    return code;
  };
