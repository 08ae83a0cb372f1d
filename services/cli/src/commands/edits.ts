import { isJsonObject, parseWideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Step } from '@stemma/history';
import { defined } from '@stemma/values';
import type { CommandSpec, Context } from '../command.ts';
import { MAX_STDIN, readText, required, text } from '../options.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from '../submit.ts';

type Arguments = readonly (string | readonly string[] | undefined)[];
type Options = Readonly<Record<string, unknown>>;

const HISTORY = ['<history>', 'a history or branch, by id or name'] as const;

/** A command that makes one step of its arguments and submits it. */
const edit = (
  line: Omit<CommandSpec, 'run'>,
  step: (args: Arguments, options: Options, context: Context) => Promise<Step> | Step | readonly Step[],
): CommandSpec => ({
  ...line,
  arguments: [HISTORY, ...line.arguments],
  options: [...line.options, ...AUTHOR_OPTIONS],
  run: async (context, [name, ...args], options) => {
    const made = await step(args, options, context);
    const steps = 'op' in made ? [made] : made;
    await printOutcome(context, await submitSteps(context, await context.findBranch(name), steps, options));
    return undefined;
  },
});

const nodeId = (value: Arguments[number]): string => required(value).replace(/^#/, '');

export const commit = edit(
  {
    name: 'commit',
    summary: 'end the cycle with a snapshot: what the model is shown',
    arguments: [],
    options: [['--turn <id>', 'the id of the sealed turn (default: a new id)']],
  },
  (_args, options) => {
    const turn = text(options, 'turn');
    return turn === undefined ? { op: 'commit' } : { op: 'commit', turn_id: turn };
  },
);

export const remove = edit(
  {
    name: 'remove',
    summary: 'remove nodes and their children from the context; earlier snapshots keep them',
    arguments: [['<id...>', 'the nodes, by id: all of them or none']],
    options: [],
  },
  ([ids]) => (typeof ids === 'string' ? [ids] : (ids ?? [])).map((id) => ({ op: 'remove', id: nodeId(id) })),
);

export const move = edit(
  {
    name: 'move',
    summary: 'move a node and its children under another parent',
    arguments: [
      ['<id>', 'the node, by id'],
      ['<parent>', 'the new parent: ^ah, ^sys, or the id of a container'],
    ],
    options: [],
  },
  ([id, parent]) => ({ op: 'move', id: nodeId(id), parent: nodeId(parent) }),
);

export const replace = edit(
  {
    name: 'replace',
    summary: 'replace the content or the data_* and content_* attributes of a node',
    arguments: [['<id>', 'the node, by id']],
    options: [
      ['--content <text>', 'the new content as text; - reads stdin'],
      [
        '--set <json>',
        'the new attributes as a JSON object: content, content_*, data_*; null sets an explicit null',
      ],
    ],
  },
  async ([id], options, context) => {
    const set = text(options, 'set');
    const content = text(options, 'content');
    if (set === undefined && content === undefined)
      throw fail('E_USAGE', 'the new content is missing: give --content or --set');
    const named = set === undefined ? {} : parseWideJson(set, '--set');
    if (!isJsonObject(named)) throw fail('E_USAGE', '--set must be a JSON object');
    const whole = content === '-' ? await readText(context, '-', MAX_STDIN) : content;
    return {
      op: 'replace',
      id: nodeId(id),
      set: { ...named, ...defined({ content: whole }) },
    };
  },
);

export const name = edit(
  {
    name: 'name',
    summary: 'name the tip of a branch, for @name:NAME',
    arguments: [['<name>', 'the name: letters, digits, _ . -']],
    options: [],
  },
  ([value]) => ({ op: 'name', name: required(value) }),
);

export const configure = edit(
  {
    name: 'configure',
    summary: 'set the pruning policy of a branch',
    arguments: [['<policy>', 'the policy: {"max_blocks":200,"keep_turns":4,"pins":[]}, or null for none']],
    options: [],
  },
  ([policy]) => ({ op: 'policy', policy: parseWideJson(required(policy), 'the policy') }),
);
