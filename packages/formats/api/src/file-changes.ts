import { z } from 'zod';
import { count, sha256 } from './values.ts';

/** A file as it was found. */
export const FileStateAnswer = z
  .strictObject({
    sha256: sha256.nullable().describe('of its bytes; null: nobody read them'),
    size: count,
    mode: z
      .enum(['100644', '100755', '120000'])
      .describe('as git has it: a file, one that can be run, a link'),
  })
  .meta({ id: 'FileState' });

const label = z
  .strictObject({ history: z.string(), branchId: count, attemptId: z.string(), label: z.string() })
  .nullable();

/** What a change of a file is put down to. */
export const FoundChangeAnswer = z
  .strictObject({
    run: z.string(),
    from: label.describe('the newest call that had begun when the files were looked at before'),
    until: label.describe('the first call by whose answer the change was found; null: the run had ended'),
    why: z
      .enum(['argument', 'only', 'none'])
      .describe(
        'how it was guessed: the arguments of the tool call name the file, no other tool call could have made the change, or several could',
      ),
    tool: z.string().nullable(),
    toolCall: z.string().nullable().describe('its id'),
    call: label.describe('the call whose answer has the tool call'),
    of: count.describe('how many tool calls could have made it; of `argument`, how many name the file'),
  })
  .meta({ id: 'FoundChange' });
