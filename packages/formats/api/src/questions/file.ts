import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { FileStateAnswer, FoundChangeAnswer } from '../file-changes.ts';
import { historyParams, milliseconds } from '../values.ts';

export const file = {
  name: 'file',
  method: 'GET',
  path: '/api/histories/{history}/file',
  summary:
    'The life of a file in the runs of a history: whether it was there at the start, each change, and the tool call that the change is put down to.',
  params: historyParams,
  query: z.strictObject({
    path: z.string().min(1).max(65_536).describe('the file, from the root of the workspace: src/a.ts'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z
      .strictObject({
        history: z.string(),
        path: z.string().describe('from the root of the workspace'),
        runs: z.array(
          z
            .strictObject({
              run: z.string(),
              startedAt: milliseconds,
              start: FileStateAnswer.nullable().describe('null: it was not there'),
              changes: z.array(
                FoundChangeAnswer.extend({
                  change: z.enum(['present', 'added', 'changed', 'removed']),
                  before: FileStateAnswer.nullable(),
                  after: FileStateAnswer.nullable(),
                }),
              ),
            })
            .meta({ id: 'FileInRun' }),
        ),
      })
      .meta({ id: 'FileLife' }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_FILES_NOT_RECORDED'],
  heavy: true,
} as const satisfies Question;
