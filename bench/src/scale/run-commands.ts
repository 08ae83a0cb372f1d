import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { timed } from '../measure.ts';
import { namesToMeasure, printBest, type Asked } from './asked.ts';
import type { AskInput, Best } from './ask-endpoints.ts';
import { askOfCommand, type ListedCommand } from './commands.ts';

const STEMMA = fileURLToPath(new URL('../../../stemma', import.meta.url));

/** Every command of the command line, as its catalogue has it. @throws an Error if there is none */
const listedCommands = (): readonly ListedCommand[] => {
  const catalogue = new URL('../../../services/cli/src/catalogue.ts', import.meta.url).href;
  const program = `import { allCommands } from ${JSON.stringify(catalogue)};
    const commands = await allCommands();
    console.log(JSON.stringify(commands.map(({ name, group, example }) => ({ name, group, example }))));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(`the catalogue of commands cannot be read: ${stderr.slice(0, 400)}`);
  return JSON.parse(stdout) as ListedCommand[];
};

/** How each command is measured, or why it is not. @throws an Error of one that nobody knows how to call */
export const commandsAsked = (): Readonly<Record<string, Asked<readonly string[]>>> =>
  Object.fromEntries(listedCommands().map((command) => [command.name, askOfCommand(command)]));

/** Seconds as a shell prints them: `0m1.230s`. */
const secondsOf = (text: string): number => {
  const [, minutes = '0', seconds = '0'] = /(\d+)m([\d.]+)s/.exec(text) ?? [];
  return 60 * Number(minutes) + Number(seconds);
};

/** Runs each command that is measured in a process of its own, and asks the shell what it took. */
export const runCommands = async ({
  directory,
  calls,
  rounds,
  only,
}: AskInput): Promise<Readonly<Record<string, Best>>> => {
  const run = async (args: readonly string[]): Promise<Best> => {
    const { ms, value } = await timed(() =>
      spawnSync(
        'sh',
        [
          '-c',
          '"$@" > out.txt 2> err.txt; code=$?; wc -c < out.txt; times; exit $code',
          'sh',
          STEMMA,
          ...args,
          '--home',
          directory,
        ],
        {
          ...{ cwd: directory, encoding: 'utf8' },
        },
      ),
    );
    const said = readFileSync(join(directory, 'err.txt'), 'utf8');
    // What `diff` compares differs: it says so with 1, and nothing beside it.
    if (value.status !== 0 && !(value.status === 1 && said === ''))
      throw new Error(`${args.join(' ')} ends with ${value.status}: ${said.slice(0, 400)}`);
    const [bytes = '0', , children = ''] = value.stdout.trim().split('\n');
    const cpu = children.split(' ').reduce((sum, part) => sum + secondsOf(part), 0);
    return { wall: ms, cpu: 1_000 * cpu, first: ms, bytes: Number(bytes) };
  };
  const measured: Record<string, Best> = {};
  for (const [name, asked] of namesToMeasure(commandsAsked(), only)) {
    const first = await run(asked.ask(calls));
    let best = first;
    for (let round = 1; round < rounds[asked.growth]; round++) {
      const { wall, cpu } = await run(asked.ask(calls));
      best = { ...best, wall: Math.min(best.wall, wall), cpu: Math.min(best.cpu, cpu) };
    }
    measured[name] = { ...best, first: first.wall };
    printBest('command', name, calls, best);
  }
  return measured;
};
