import { fail } from '@stemma/errors';
import type { Home, Line } from '@stemma/home';
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
    const outcome = await submitSteps(
      context,
      found,
      async (line) => {
        const position = await positionOf(found.home, line, options);
        return [{ op: 'annotate', note: required(note), ...(position === undefined ? {} : { position }) }];
      },
      options,
    );
    await printOutcome(context.output, outcome);
    return undefined;
  },
};

const positionOf = async (
  home: Home,
  line: Line,
  options: Readonly<Record<string, unknown>>,
): Promise<At | undefined> => {
  const [ref, intervention] = [text(options, 'at'), text(options, 'intervention')];
  if (ref !== undefined && intervention !== undefined)
    throw fail('E_USAGE', 'a note is about a position or about an intervention, not both');
  if (intervention !== undefined) return home.lineages.intervention(line.history, intervention);
  if (ref === undefined) return undefined;
  const { strand, seq } = await home.position(line, ref);
  return { strand, seq };
};
