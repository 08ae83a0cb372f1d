import { isJsonObject, parseWideJson, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { checkInjectedRole, INJECTED_ROLES } from '@stemma/history';
import { defined } from '@stemma/values';
import type { Context, TopCommand } from '../command.ts';
import { MAX_STDIN, readJsonInput, readText, text, whole } from '../options.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from '../submit.ts';

export const insert: TopCommand = {
  name: 'insert',
  summary: 'insert a node, with its content from --content or stdin, or whole as JSON',
  group: 'Change a context',
  place: 3,
  example: "stemma insert mine --parent ^sys --content 'Be brief.'",
  arguments: [['<history>', 'a history or branch, by id or name']],
  options: [
    ['--parent <id>', 'the parent: ^ah, ^sys, or the id of a container or turn (default: ^ah)'],
    ['--content <text>', 'the content as text; - reads stdin'],
    ['--content-json <json>', 'the content as a JSON value; - reads stdin'],
    ['--node <file>', 'the whole node as a JSON object, children included; - reads stdin'],
    ['--type <nodeType>', 'the node type: cb, mc, cb:summary, custom:note … (default: cb)'],
    ['--id <id>', 'the id of the node (default: a new id)'],
    ['--role <role>', `the role: ${INJECTED_ROLES.join(', ')}`],
    ['--kind <kind>', 'the kind: text, call, result …'],
    ['--offset <n>', 'the order around the core: < 0 before, > 0 after (default: 0)'],
    ['--ttl <n>', 'the number of further snapshots that keep it (default: unlimited)'],
    ['--priority <n>', 'the priority; the lowest is pruned first (default: 0)'],
    ['--key <key>', 'a name that later versions of the node share'],
    ['--refs <ids>', 'the ids that the node depends on, separated by commas'],
    ['--data <json>', 'the data_* and content_* attributes as a JSON object'],
    ...AUTHOR_OPTIONS,
  ],
  run: async (context, [name], options) => {
    const { findBranch: find } = context;
    const node = await readNode(context, options);
    const parent = (text(options, 'parent') ?? '^ah').replace(/^#/, '');
    await printOutcome(
      context,
      await submitSteps(context, await find(name), [{ op: 'insert', parent, node }], options),
    );
    return undefined;
  },
};

type Options = Readonly<Record<string, unknown>>;

const readNode = async (
  context: Context,
  options: Options,
): Promise<{ readonly [key: string]: WideJson }> => {
  const whole = text(options, 'node');
  if (whole !== undefined) return object(await readJsonInput(context, whole, MAX_STDIN, '--node'), '--node');
  const nodeType = text(options, 'type') ?? 'cb';
  const content = await readContent(context, options, nodeType);
  return {
    nodeType,
    ...headers(options),
    ...attributes(options),
    ...defined({ content }),
  };
};

const readContent = async (
  context: Context,
  options: Options,
  nodeType: string,
): Promise<WideJson | undefined> => {
  const json = text(options, 'contentJson');
  if (json !== undefined)
    return json === '-'
      ? readJsonInput(context, '-', MAX_STDIN, '--content-json')
      : parseWideJson(json, '--content-json');
  const content = text(options, 'content');
  if (content !== undefined && content !== '-') return content;
  const container = /^m[tc](:|$)/.test(nodeType);
  if (content === undefined && (container || context.stdin.isTTY === true)) {
    if (container) return undefined;
    throw fail('E_USAGE', 'the content is missing: give --content, --content-json or --node, or pipe it in');
  }
  return readText(context, '-', MAX_STDIN);
};

const headers = (options: Options): Record<string, WideJson> => {
  const result: Record<string, WideJson> = {};
  for (const name of ['id', 'role', 'kind', 'key']) {
    const value = text(options, name);
    if (value !== undefined) result[name] = value;
  }
  const role = text(options, 'role');
  if (role !== undefined) checkInjectedRole(role);
  for (const [name, min] of [
    ['offset', undefined],
    ['ttl', 0],
    ['priority', undefined],
  ] as const) {
    const value = whole(options, name, min === undefined ? {} : { least: min });
    if (value !== undefined) result[name] = value;
  }
  const refs = text(options, 'refs');
  if (refs !== undefined) result['refs'] = refs.split(',').map((id) => id.trim());
  return result;
};

const attributes = (options: Options): { readonly [key: string]: WideJson } => {
  const data = text(options, 'data');
  return data === undefined ? {} : object(parseWideJson(data, '--data'), '--data');
};

const object = (value: WideJson, what: string): { readonly [key: string]: WideJson } => {
  if (!isJsonObject(value)) throw fail('E_USAGE', `${what} must be a JSON object`);
  return value;
};
