import { fail } from '@stemma/errors';
import type { Line } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { CommandLine } from '../command.ts';
import { required, text } from '../options.ts';
import { printOutcome, RECORDING, submitSteps } from '../submit.ts';

type At = { readonly strand: number; readonly seq: number };

export const annotate: CommandLine = {
  name: 'annotate',
  summary: 'write a note to a position or to an intervention; later notes stand beside earlier ones',
  arguments: [
    ['<history>', 'a history or lineage, by id or name'],
    ['<note>', 'the note'],
  ],
  options: [
    ['--at <ref>', '@t-1 @c12 @s57 @name:NAME (default: where the lineage stands)'],
    ['--intervention <id>', 'the intervention it is about'],
    ...RECORDING,
  ],
  run: async (context, [name, note], options) => {
    const found = await context.line(name);
    const position = await positionOf(found, options);
    const outcome = await submitSteps(
      context,
      found,
      [{ op: 'annotate', note: required(note), ...(position === undefined ? {} : { position }) }],
      options,
    );
    await printOutcome(context, outcome);
    return undefined;
  },
};

const positionOf = async (
  { home, line }: { readonly home: Home; readonly line: Line },
  options: Readonly<Record<string, unknown>>,
): Promise<At | string | undefined> => {
  const [ref, intervention] = [text(options, 'at'), text(options, 'intervention')];
  if (ref !== undefined && intervention !== undefined)
    throw fail('E_USAGE', 'a note is about a position or about an intervention, not both');
  return intervention === undefined ? ref : home.lineages.intervention(line.history, intervention);
};
