import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { FileStateAnswer, FoundChangeAnswer } from '../file-changes.ts';
import { count, historyParams, optionalWhole, reference } from '../values.ts';

const at = z.strictObject({ label: z.string(), run: z.string() });

export const files = {
  name: 'files',
  method: 'GET',
  path: '/api/histories/{history}/files',
  summary:
    'Compares the files that were there when the model was called at the position `a` with those at `b`, line by line, with the tool calls that the changes are put down to.',
  params: historyParams,
  query: z.strictObject({
    a: reference,
    b: reference,
    limit: optionalWhole('the most files that are listed, at most 1,000 (default: 100)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z
      .strictObject({
        history: z.string(),
        a: at,
        b: at,
        total: count.describe('all files that differ'),
        files: z
          .array(
            z
              .strictObject({
                path: z.string(),
                change: z.enum(['added', 'changed', 'removed', 'renamed']),
                from: z
                  .string()
                  .nullable()
                  .describe('its path before, if it has the bytes of a file that is gone'),
                before: FileStateAnswer.nullable(),
                after: FileStateAnswer.nullable(),
                lines: z
                  .array(
                    z.strictObject({
                      a: count.describe('the first line before, from 1'),
                      b: count,
                      lines: z.array(z.string()).describe('each with ` `, `-` or `+` before it'),
                    }),
                  )
                  .nullable()
                  .describe('null: they are not known'),
                notShown: z
                  .enum(['large', 'full', 'binary', 'secret', 'unread', 'link', 'many'])
                  .nullable()
                  .describe(
                    'why there are no lines: the file is too large, others had taken the room, it is no text, it has secrets, nobody could read it, it is a link, or too many lines differ',
                  ),
                changes: z.array(FoundChangeAnswer).describe('between two calls of one run, in their order'),
              })
              .meta({ id: 'FileDifference' }),
          )
          .describe('by path'),
      })
      .meta({ id: 'FileDifferences' }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_FILES_NOT_RECORDED'],
  heavy: true,
} as const satisfies Question;
