import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import type { CommandSpec } from '../command.ts';
import { required, text } from '../options.ts';
import { oneLine, printable, table } from '../output.ts';
import { isPosition, positionOf, refusePosition } from '../references.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from '../submit.ts';
import { time } from '../time.ts';
import { titled, titleOf } from '../titles.ts';

export const save: CommandSpec = {
  name: 'save',
  summary: 'save a position under a name; nothing is copied or changed',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['[what...]', 'a name (default: a new one) and a position such as @c12 (default: the tip)'],
  ],
  options: [['--description <text>', 'the description of the position'], ...AUTHOR_OPTIONS],
  run: async (context, [history, what], options) => {
    const given = Array.isArray(what) ? (what as readonly string[]) : [];
    const ref = given.find((each) => each.includes('@') || isPosition(each));
    const name = given.find((each) => each !== ref);
    if (given.length > (ref === undefined ? 0 : 1) + (name === undefined ? 0 : 1))
      throw fail('E_USAGE', 'save takes at most one name and one position (@c12)');
    refusePosition(name);
    const found = await context.findBranch(history);
    const description = text(options, 'description');
    const outcome = await submitSteps(
      context,
      found,
      [
        {
          op: 'save',
          ...defined({ name, description }),
          ...(ref === undefined ? {} : { position: positionOf(ref) }),
        },
      ],
      options,
    );
    const saved = outcome.events.find((event) => event.type === 'PositionNamed');
    if (context.output.json || saved === undefined) await printOutcome(context, outcome);
    else await context.output.write(`${saved.name} is @s${saved.seq}\n`);
    return undefined;
  },
};

export const list: CommandSpec = {
  name: 'list',
  summary: 'list the saved positions of one history or of all',
  arguments: [['[history]', 'a history or branch, by id or name (default: all histories)']],
  options: [],
  run: async (context, [name]) => {
    const home = await context.home();
    const history = name === undefined ? undefined : (await home.find(required(name))).history;
    const saved = await home.branches.saved(history);
    const titles = new Map<string, string>();
    for (const { branch } of context.output.json ? [] : saved)
      titles.set(historyIn(branch), await titleOf(home, historyIn(branch)));
    await context.output.result(saved, () =>
      saved.length === 0
        ? 'no saved positions: `stemma save H NAME` saves one\n'
        : table(
            ['ID', 'BRANCH', 'POSITION', 'ROUND', 'BLOCKS', 'PARENT', 'SAVED', 'DESCRIPTION'],
            saved.map((row) => [
              printable(row.id),
              titled(row.branch, historyIn(row.branch), titles.get(historyIn(row.branch)) ?? row.branch),
              row.position.label,
              String(row.round_number ?? '-'),
              String(row.metrics?.blocks ?? '-'),
              row.parent_id ?? '-',
              time(row.created_at),
              oneLine(row.description, 60),
            ]),
            context.output.width,
          ),
    );
    return undefined;
  },
};

/** The history of an address (`HISTORY` or `HISTORY:BRANCH_ID`). */
const historyIn = (address: string): string => address.replace(/:.*$/, '');
