import { fail } from '@stemma/errors';
import type { TopCommand } from '../command.ts';
import { table, oneLine } from '../output.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from '../submit.ts';

export const label: TopCommand = {
  name: 'label',
  summary: 'give a history labels, by which histories are found and grouped; without any, list them',
  group: 'Save, fork, return',
  place: 8,
  example: 'stemma label mine task=refund',
  arguments: [
    ['<history>', 'a history, by id or name'],
    ['[labels...]', 'key=value; `key=` takes the label away'],
  ],
  options: [...AUTHOR_OPTIONS],
  run: async (context, [history, given], options) => {
    const found = await context.findBranch(history);
    const pairs = Array.isArray(given) ? (given as readonly string[]) : [];
    if (pairs.length === 0) {
      const { labels } = await found.home.read.history(found.branchRef.history);
      await context.output.result(labels, () =>
        labels.length === 0
          ? 'no labels: `stemma label HISTORY key=value` gives one\n'
          : table(
              ['LABEL', 'VALUE'],
              labels.map(({ label: key, value }) => [key, oneLine(value, 200)]),
              context.output.width,
            ),
      );
      return undefined;
    }
    await printOutcome(context, await submitSteps(context, found, pairs.map(stepOf), options));
    return undefined;
  },
};

const stepOf = (pair: string) => {
  const at = pair.indexOf('=');
  if (at < 1)
    throw fail('E_USAGE', `${JSON.stringify(pair)} is no label: give key=value, or key= to take it away`);
  const value = pair.slice(at + 1);
  return { op: 'label' as const, label: pair.slice(0, at), value: value === '' ? null : value };
};
