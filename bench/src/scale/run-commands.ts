import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { timed } from '../measure.ts';
import { namesToMeasure, printBest } from './asked.ts';
import type { AskInput, Best } from './ask-endpoints.ts';
import { COMMANDS_ASKED } from './commands.ts';

const STEMMA = fileURLToPath(new URL('../../../stemma', import.meta.url));

/** Every command that the help names. @throws an Error if one of them is neither measured nor said to be not */
export const namedCommands = (): readonly string[] => {
  const { stdout } = spawnSync(STEMMA, ['help'], { encoding: 'utf8' });
  const [, listed = ''] = stdout.split(/^Record and import:$/m);
  const names = [...listed.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name as string);
  const unknown = names.filter((name) => COMMANDS_ASKED[name] === undefined);
  if (names.length === 0 || unknown.length > 0)
    throw new Error(`scale/commands.ts says nothing of ${unknown.join(', ') || 'any command'}`);
  return names;
};

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
  const named = new Set(namedCommands());
  const measured: Record<string, Best> = {};
  for (const [name, asked] of namesToMeasure(COMMANDS_ASKED, only)) {
    if (!named.has(name)) continue;
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
