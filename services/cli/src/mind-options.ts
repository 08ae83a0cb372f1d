import type { ToolSource } from '@stemma/agent-loop';
import { parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { createInterface } from 'node:readline/promises';
import type { Context } from './command.ts';
import { printable } from './output.ts';

type Options = Readonly<Record<string, unknown>>;

export const SET_OPTION: readonly [syntax: string, description: string] = [
  '--set <key=value...>',
  'parameters of the request, values as JSON or text; null takes one away (default: those of the call before)',
];

/** The values of an option that may be given several times. */
export const texts = (options: Options, name: string): readonly string[] => {
  const given = options[name];
  if (Array.isArray(given)) return given.map(String);
  return typeof given === 'string' ? [given] : [];
};

/** The parameters that --set gives. @throws E_USAGE */
export const settingsIn = (options: Options): WideJsonObject => {
  const set: Record<string, WideJson> = {};
  for (const pair of texts(options, 'set')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at));
    if (!/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/.test(name) || name === '__proto__' || name === 'constructor')
      throw fail(
        'E_USAGE',
        `--set takes name=value, such as temperature=0, not ${JSON.stringify(pair.slice(0, 100))}`,
      );
    set[name] = valueOf(pair.slice(at + 1));
  }
  return set;
};

const valueOf = (text: string): WideJson => {
  try {
    return parseWideJson(text);
  } catch {
    return text;
  }
};

/** Where results of tools come from: `recorded`, `ask`, `none`, or a command. @throws E_USAGE */
export const toolSourcesIn = (context: Context, options: Options): readonly ToolSource[] => {
  const given = texts(options, 'tools');
  if (given.includes('none') && given.length > 1) throw fail('E_USAGE', '--tools none excludes any other');
  return (given.length === 0 ? ['recorded'] : given).flatMap((source): readonly ToolSource[] => {
    if (source === 'none') return [];
    if (source === 'recorded') return [{ kind: 'recorded' }];
    if (source === 'ask') return [asking(context)];
    if (source.trim() === '') throw fail('E_USAGE', '--tools takes recorded, ask, none, or a command');
    return [{ kind: 'command', command: source }];
  });
};

/** Asks for one line on the terminal; an empty one is no answer. @throws E_USAGE where there is none */
const asking = ({ stdin, stderr, signal }: Context): ToolSource => {
  if (stdin.isTTY !== true || stderr.isTTY !== true)
    throw fail('E_USAGE', '--tools ask needs a terminal to ask on');
  return {
    kind: 'ask',
    ask: async (call) => {
      const questions = createInterface({ input: stdin, output: stderr });
      try {
        const line = await questions.question(
          `${printable(`${call.name}(${call.arguments})`)}\nresult (empty: stop): `,
          { signal },
        );
        return line === '' ? null : line;
      } finally {
        questions.close();
      }
    },
  };
};

/** A history or branch and a position, as `H@c7` or as two arguments. @throws E_USAGE for two positions */
export const placeIn = (
  name: string,
  ref: string | undefined,
): { readonly name: string; readonly at: string | undefined } => {
  const cut = name.indexOf('@');
  if (cut === -1) return { name, at: ref };
  if (ref !== undefined) throw fail('E_USAGE', `${name} and ${ref} are two positions: give one`);
  return { name: name.slice(0, cut), at: name.slice(cut) };
};
