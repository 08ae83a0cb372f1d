import { basename } from 'node:path';

/** An environment. */
type Env = Readonly<Record<string, string | undefined>>;

/** A program that runs an agent, and where it reads the addresses of models from. */
type Harness = {
  /** What it is called as, and what its package is. */
  readonly names: readonly string[];
  /** Arguments that say what no variable of it does, before those that it is given. @param url of the API of OpenAI */
  readonly openaiArguments?: (url: string) => readonly string[];
  /** True if no address that it is given gets its calls: they are intercepted. */
  readonly isIntercepted?: (env: Env) => boolean;
};

/** Programs that need more than the variables of their providers' clients. A program that is not here is given those. */
const HARNESSES: readonly Harness[] = [
  {
    names: ['codex', '@openai/codex'],
    openaiArguments: (url) => ['-c', `openai_base_url=${JSON.stringify(url)}`],
    // With a login it calls another host with another key.
    isIntercepted: (env) => !isSet(env, 'OPENAI_API_KEY') && !isSet(env, 'CODEX_API_KEY'),
  },
  {
    names: ['gemini', '@google/gemini-cli'],
    // It takes any address for that of a gateway, which has another login.
    isIntercepted: () => true,
  },
];

const isSet = (env: Env, name: string): boolean => (env[name] ?? '') !== '';

/** Programs that run a package by its name. */
const RUNNERS: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx']);

/** The program that a command line runs, if it is a known one: `codex`, `/usr/bin/codex`, `npx -y @openai/codex@1.2`. */
export const harnessOf = ([program = '', ...args]: readonly string[]): Harness | undefined => {
  const name = nameOf(program);
  const named = RUNNERS.has(name) ? args.find((word) => !word.startsWith('-')) : name;
  const known = named?.replace(/(?<=.)@[^/]*$/, '') ?? '';
  return HARNESSES.find(({ names }) => names.includes(known));
};

const nameOf = (program: string): string => basename(program).replace(/\.(exe|cmd|js|mjs)$/i, '');

/**
 * A command line whose calls are to go past an address.
 *
 * @param url the address of the API of OpenAI
 * @returns the same where no variable is enough
 */
export const withAddress = (
  [program = '', ...args]: readonly string[],
  harness: Harness | undefined,
  url: string,
): readonly string[] => {
  const more = harness?.openaiArguments?.(url) ?? [];
  if (more.length === 0) return [program, ...args];
  // What runs a package takes words before its name for its own.
  const at = RUNNERS.has(nameOf(program)) ? args.findIndex((word) => !word.startsWith('-')) + 1 : 0;
  return [program, ...args.slice(0, at), ...more, ...args.slice(at)];
};
