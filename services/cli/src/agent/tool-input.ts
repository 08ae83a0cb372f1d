import { fail } from '@stemma/errors';
import { z } from 'zod';
import type { CommandSpec } from '../command.ts';
import { DEFAULT_BUDGET, LEAST_BUDGET } from './agent-page.ts';
import type { AgentTool } from './tools.ts';

type Given = string | number | boolean | readonly (string | number)[];

/** What a client gives to a tool, by the names of its schema. */
export type ToolInput = Readonly<Record<string, Given | undefined>>;

/** An argument or option of a command, as a field of the schema. */
type Field = {
  readonly name: string;
  /** `--when-not`; undefined: an argument. */
  readonly flag: string | undefined;
  readonly takesValue: boolean;
  readonly isList: boolean;
  readonly isNumber: boolean;
  /** It names a file of this machine, which no client may. */
  readonly isFile: boolean;
  readonly isRequired: boolean;
  readonly description: string;
};

/** Who acts, under which id and on what: the server says so, not the client. */
const IDENTITY = ['actor', 'recorder', 'command', 'expect'];
const NUMBERS = ['count', 'n', 'characters', 'tokens'];

const argumentField = ([syntax, description]: readonly [string, string]): Field => {
  const name = syntax.replace(/[<>[\].]/g, '');
  return {
    ...{ name: snake(name), flag: undefined, takesValue: true, description },
    isList: syntax.includes('...'),
    isNumber: false,
    isFile: false,
    isRequired: syntax.startsWith('<'),
  };
};

const optionField = (
  [syntax, description]: readonly [string, string],
  required: readonly string[],
): Field => {
  const [, long = '', value = ''] = /(--[a-z-]+)(?:[ =]?[<[]([^>\]]+)[>\]])?/.exec(syntax) ?? [];
  return {
    ...{ name: snake(long.slice(2)), flag: long, takesValue: value !== '', description },
    isList: value.endsWith('...'),
    isNumber: NUMBERS.includes(value),
    isFile: value === 'file' || value === 'directory',
    isRequired: required.includes(long.slice(2)),
  };
};

const snake = (name: string): string => name.replaceAll('-', '_');

/** What a client may give to a tool: arguments and options of its command, as the command describes them. */
export const fieldsOf = (spec: CommandSpec, tool: AgentTool): readonly Field[] => {
  const { options, required = [], fixed = [] } = tool;
  const known = spec.options.map((option) => optionField(option, required));
  const named = (name: string): Field => {
    const field = known.find(({ flag }) => flag === `--${name}`);
    if (field === undefined) throw fail('E_INTERNAL', `${spec.name} has no option --${name}`);
    return field;
  };
  const given =
    options === 'own'
      ? known.filter(({ name, isFile }) => !isFile && !IDENTITY.includes(name))
      : options.map((name) => named(name));
  const args = spec.arguments.map(argumentField).filter(({ name }) => !fixed.includes(name));
  return [...args, ...given];
};

const valueSchema = ({ takesValue, isNumber, isList }: Field): z.ZodType<Given> => {
  if (!takesValue) return z.boolean();
  const one = isNumber ? z.number() : z.string();
  return isList ? z.array(one).max(1_000) : one;
};

/** The schema of a tool, as its client sees it. */
export const schemaOf = (
  fields: readonly Field[],
  { mayGo }: { readonly mayGo: boolean },
): z.ZodObject<Record<string, z.ZodType<Given | undefined>>> =>
  z.strictObject({
    ...Object.fromEntries(
      fields.map((field) => {
        const schema = valueSchema(field).describe(field.description);
        return [field.name, field.isRequired ? schema : schema.optional()];
      }),
    ),
    ...(mayGo && {
      go: z
        .boolean()
        .optional()
        .describe('true: do it; else the answer says what it would do, and what that costs'),
    }),
    budget: z
      .int()
      .min(LEAST_BUDGET)
      .max(100_000)
      .optional()
      .describe(`the most tokens of the answer (default: ${DEFAULT_BUDGET})`),
    cursor: z.string().max(40).optional().describe('for the next page: what the page before ends with'),
  });

/** The words of a command line that give an input to a command: no value of it can be taken for an option. */
export const wordsOf = (fields: readonly Field[], input: ToolInput): readonly string[] => {
  const options = fields.flatMap(({ name, flag, takesValue }) => {
    const value = input[name];
    if (flag === undefined || value === undefined || value === false) return [];
    return takesValue ? [value].flat().map((each) => `${flag}=${String(each)}`) : [flag];
  });
  const paging = (['budget', 'cursor'] as const).flatMap((name) =>
    input[name] === undefined ? [] : [`--${name}=${String(input[name])}`],
  );
  const args = fields.flatMap(({ name, flag }) => {
    const value = input[name];
    return flag === undefined && value !== undefined ? [value].flat().map(String) : [];
  });
  return [...options, ...paging, '--', ...args];
};
