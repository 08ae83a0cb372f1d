import { toWireJson } from '@stemma/api';
import { fail, isStemmaError } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { pathTo, type Intervention } from '@stemma/queries';
import type { CommandSpec, Context } from '../command.ts';
import { required, text } from '../options.ts';
import { indented, printable } from '../output.ts';
import { titleOf, withTitles } from '../titles.ts';
import { describeImpact } from './impact.ts';

/** Of a path of reasons in JSON; `blocks` has them all. */
const MAX_STEPS = 20;

export const showIntervention: CommandSpec = {
  name: 'show',
  summary: 'show one intervention: actor, time, reason, content, positions before and after, later notes',
  arguments: [['<id>', 'the intervention, by id or frame: @s57']],
  options: [
    ['--history <history>', 'the history; needed for a frame (default: the one that has the id)'],
    ['--impact', 'the model calls that were shown what it added, or what was derived from it'],
  ],
  run: async (context, [id], options) => {
    const home = await context.home();
    const found = await find(context, required(id), text(options, 'history'));
    if (options['impact'] !== true) {
      const words = await describe(home, found);
      await context.output.result(found, () => words);
      return undefined;
    }
    const impact = await home.queries.audit.impact(found.history, found.id);
    const calls = context.output.json
      ? impact.calls.map((call) => ({ ...call, path: pathTo(impact, call, MAX_STEPS) }))
      : [];
    const words = await describe(home, found);
    await context.output.result(
      { ...found, impact: { ...impact, calls } },
      () => words + describeImpact(impact),
    );
    return undefined;
  },
};

const find = async (context: Context, id: string, name: string | undefined): Promise<Intervention> => {
  if (name !== undefined) {
    const { home, branchRef } = await context.findBranch(name);
    return home.queries.audit.intervention(branchRef.history, id);
  }
  const home = await context.home();
  if (/^@?s?\d+$/.test(id)) throw fail('E_USAGE', `${id} is a frame: name its history with --history`);
  const found: Intervention[] = [];
  for (const { history } of await home.read.histories()) {
    try {
      found.push(await home.queries.audit.intervention(history, id));
    } catch (error) {
      if (!isStemmaError(error, 'E_INTERVENTION_NOT_FOUND')) throw error;
    }
  }
  const [one] = found;
  if (one === undefined) throw fail('E_INTERVENTION_NOT_FOUND', `no history has an intervention ${id}`);
  if (found.length > 1)
    throw fail(
      'E_HISTORY_AMBIGUOUS',
      `several histories have an intervention ${id}: ${(await Promise.all(found.map(({ history }) => titleOf(home, history)))).join(', ')}; name one with --history`,
    );
  return one;
};

/** Whose values are addresses of branches. */
const BRANCHES: ReadonlySet<string> = new Set(['branch', 'forked_to', 'abandoned']);

const describe = async (home: Home, one: Intervention): Promise<string> => {
  const lines = [
    ['id', one.id],
    ['type', one.intervention_type],
    ['actor', one.actor],
    ['time', one.timestamp],
    ['branch', one.branch],
    ['frame', `@s${one.seq}`],
    ['before', one.snapshot_before ?? '(the history begins)'],
    ['after', one.snapshot_after],
    ['notes', one.notes],
    ...Object.entries(one.content).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : toWireJson(value),
    ]),
    ...one.annotations.map(({ timestamp, by, note }) => ['noted', `${timestamp} ${by}: ${note}`]),
  ] as const;
  let described = '';
  for (const [name = '', value = ''] of lines) {
    const words = BRANCHES.has(name) ? await withTitles(home, value) : value;
    described += `${printable(name).padEnd(12)}${indented(words, 12)}\n`;
  }
  return described;
};
