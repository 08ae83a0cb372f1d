import { toWireJson } from '@stemma/api';
import { parseWideJson, type WideJson } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import type { TopCommand } from '../command.ts';
import { required } from '../options.ts';
import { oneLine, printable } from '../output.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from '../submit.ts';

export const config: TopCommand = {
  name: 'config',
  summary: 'show or change the configuration of a branch: `config get H [@ref]`, `config set H key=value…`',
  group: 'Change a context',
  place: 8,
  example: 'stemma config get mine',
  arguments: [
    ['<what>', 'get or set'],
    ['<history>', 'a history or branch, by id or name'],
    [
      '[settings...]',
      'set: key=value pairs, each value JSON or a text, null to remove the key; get: a position',
    ],
  ],
  options: AUTHOR_OPTIONS,
  run: async (context, [what, name, given], options) => {
    const settings = Array.isArray(given) ? (given as readonly string[]) : [];
    const found = await context.findBranch(name);
    const { home, branchRef } = found;
    if (what === 'get') {
      const { position, config: values } = await home.branches.config(
        await home.position(branchRef, settings[0]),
      );
      const { history, branch, branchId, label } = position;
      await context.output.result({ history, branch, branchId, position: label, config: values }, () =>
        Object.keys(values).length === 0
          ? 'nothing is configured: `stemma config set H key=value` does it\n'
          : Object.entries(values)
              .map(
                ([key, value]) => `${printable(key)} = ${oneLine(toWireJson(value), context.output.width)}\n`,
              )
              .join(''),
      );
      return undefined;
    }
    if (what !== 'set')
      throw fail('E_USAGE', `config needs get or set, not ${JSON.stringify(required(what))}`);
    const set = parsed(settings);
    const { config: before } = await home.branches.config(await home.position(branchRef));
    const { checkPoolChange } = await import('@stemma/pools');
    checkPoolChange(before, set);
    const outcome = await submitSteps(context, found, [{ op: 'config', set }], options);
    await printOutcome(context, outcome);
    return undefined;
  },
};

const parsed = (settings: readonly string[]): { readonly [key: string]: WideJson } => {
  const pairs = settings.map((setting): [string, WideJson] => {
    const equals = setting.indexOf('=');
    if (equals < 1) throw fail('E_USAGE', `${JSON.stringify(setting)} is not a setting: give key=value`);
    return [setting.slice(0, equals), valueOf(setting.slice(equals + 1))];
  });
  if (pairs.length === 0) throw fail('E_USAGE', 'the setting is missing: give key=value');
  return Object.fromEntries(pairs);
};

/** JSON where it is some, else the text itself. */
const valueOf = (given: string): WideJson => {
  try {
    return parseWideJson(given, 'the value');
  } catch (error) {
    if (isStemmaError(error, 'E_INPUT_NOT_JSON') || isStemmaError(error, 'E_INPUT_TRUNCATED')) return given;
    throw error;
  }
};
