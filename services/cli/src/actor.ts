import { fail } from '@stemma/errors';
import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { promisify } from 'node:util';
import { text } from './options.ts';
import type { Surroundings } from './surroundings.ts';

type Options = Readonly<Record<string, unknown>>;

/** Options of a command that a person gives: who acts, and why. */
export const ACTOR_OPTIONS: readonly (readonly [syntax: string, description: string])[] = [
  ['--actor <name>', 'the person who acts (default: STEMMA_ACTOR, then the user of git config)'],
  ['--notes <text>', 'the reason, may be empty (default: asked for on a terminal, else empty)'],
];

/** Who looks, for commands that only show. */
export const OBSERVER_OPTION: readonly [syntax: string, description: string] = [
  '--actor <name>',
  'the person who looks, recorded if the history has `observe` set (default: STEMMA_ACTOR)',
];

/** The actor that a command names, or STEMMA_ACTOR: for what is done without asking further. */
export const namedActor = ({ env }: Pick<Surroundings, 'env'>, options: Options): string | undefined =>
  text(options, 'actor') ?? (env['STEMMA_ACTOR'] || undefined);

/** Who acts (pool: Interventions). @throws E_ACTOR_REQUIRED */
export const actorOf = async (context: Pick<Surroundings, 'env'>, options: Options): Promise<string> => {
  const actor = namedActor(context, options) ?? (await gitUser(context.env));
  if (actor === undefined) throw fail('E_ACTOR_REQUIRED', 'the command needs an actor, and none is given');
  return actor;
};

const run = promisify(execFile);

/** `Name <address>` as git knows it, what there is of it; undefined where git knows neither. */
const gitUser = async (env: Surroundings['env']): Promise<string | undefined> => {
  const ask = async (key: string): Promise<string> => {
    try {
      const { stdout } = await run('git', ['config', '--get', key], {
        env: { PATH: process.env['PATH'], ...env },
        timeout: 5_000,
      });
      return stdout.trim();
    } catch {
      return '';
    }
  };
  const [name, address] = [await ask('user.name'), await ask('user.email')];
  if (name === '' || address === '') return name || address || undefined;
  return `${name} <${address}>`;
};

/** What a question on the terminal needs of a command's context. */
type Asking = Pick<Surroundings, 'stdin' | 'stderr' | 'signal'> & {
  readonly output: { readonly json: boolean };
};

/** Why: as given, or asked for where a person sits at a terminal; windows' line ends are line ends. */
export const notesOf = async (asking: Asking, options: Options): Promise<string> => {
  const given = text(options, 'notes');
  if (given !== undefined) return given.replace(/\r\n/g, '\n');
  const { stdin, stderr, signal } = asking;
  if (stdin.isTTY !== true || stderr.isTTY !== true || asking.output.json) return '';
  const questions = createInterface({ input: stdin, output: stderr });
  try {
    return await questions.question('reason (may be empty): ', { signal });
  } finally {
    questions.close();
  }
};
