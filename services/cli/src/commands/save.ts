import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import type { TopCommand } from '../command.ts';
import { text } from '../options.ts';
import { isPosition, positionOf, refusePosition } from '../references.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from '../submit.ts';

export const save: TopCommand = {
  name: 'save',
  summary: 'save a position under a name; nothing is copied or changed',
  group: 'Save, fork, return',
  place: 1,
  example: 'stemma save mine before-refund',
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
          ...defined({
            name,
            description,
            position: ref === undefined ? undefined : positionOf(ref),
          }),
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
