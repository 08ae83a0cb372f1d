import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, historyParams, milliseconds, optionalWhole } from '../values.ts';

const commit = z
  .strictObject({
    id: z.string(),
    changed: z.boolean().nullable().describe('files that git keeps differed from it; null: git did not say'),
  })
  .nullable()
  .describe('of the working directory; null: it was in no git repository');

const end = z
  .strictObject({ exitCode: z.int().nullable(), signal: z.string().nullable() })
  .describe('how the program ended: an exit code, or the signal that ended it');

const command = z.array(z.string()).describe('its words, without secrets');

const ProgramRunAnswer = z
  .strictObject({
    run: z.string().describe('the id under which its calls are recorded'),
    calls: count.describe('its calls in this history'),
    at: milliseconds.describe('when it was started, or its first call was recorded'),
    program: z
      .strictObject({
        history: z.string().describe('the history that says so'),
        seq: count,
        command,
        directory: z.string(),
        commit,
        variables: z
          .array(z.string())
          .describe('the names of the variables that the recorder set or changed; no values'),
        startedAt: milliseconds,
        endedAt: milliseconds,
        end,
        isRedacted: z
          .boolean()
          .describe('secrets were taken out of the command or the directory: it cannot run as it did'),
      })
      .nullable()
      .describe('null: nobody recorded what was run'),
  })
  .meta({ id: 'ProgramRun' });

const bothTexts = {
  recorded: z.string().nullable(),
  now: z.string().nullable(),
  isWhole: z
    .boolean()
    .describe('false: only what is around the difference is kept, and … stands for the rest'),
};

const details = z
  .strictObject({
    calls: z
      .array(z.strictObject({ label: z.string(), how: z.string() }))
      .describe('in the order in which they came, those that are missing last; at most 200'),
    difference: z
      .strictObject({
        role: z.string().nullable(),
        name: z.string().nullable().describe('of a parameter or a tool'),
        ...bothTexts,
        askedBy: z
          .strictObject({ tool: z.string(), arguments: z.string(), call: z.string().nullable() })
          .nullable(),
        gone: count.describe('messages that a shortened history no longer has'),
        by: z.string().nullable().describe('the position at which the message was recorded'),
        shownTo: z
          .strictObject({ first: z.string(), last: z.string(), calls: count, tokens: count })
          .nullable()
          .describe('the recorded calls that show it'),
      })
      .nullable(),
    world: z
      .array(z.strictObject({ call: z.string(), tool: z.string(), ...bothTexts }))
      .describe('results of tools in whose place the recorded ones stood; at most five'),
  })
  .nullable()
  .describe('what a page shows of it besides, without secrets; null: it was recorded before reruns had it');

const RerunAnswer = z
  .strictObject({
    history: z.string(),
    branchId: count.describe('the branch whose calls answered'),
    seq: count,
    rerun: z.string(),
    of: z.string().nullable().describe('the run that answered; null: calls that were recorded under none'),
    actor: z.string(),
    notes: z.string(),
    command,
    directory: z.string(),
    commit,
    startedAt: milliseconds,
    endedAt: milliseconds,
    end,
    exit: count.describe(
      'the exit code of the rerun: 0 all same or bound, 5 a difference, 1 the end differs',
    ),
    counts: z
      .strictObject({
        same: count,
        otherOrder: count.describe('of those that are the same'),
        bound: count,
        differs: count,
        extra: count,
        missing: count,
        live: count,
        notKept: count,
      })
      .describe('how many calls came out how'),
    bindings: z
      .array(z.strictObject({ kind: z.string(), count }))
      .describe('how many values of each kind were others'),
    difference: z
      .strictObject({
        label: z.string(),
        message: count.nullable().describe('from 1'),
        cause: z.string(),
        node: z.string().nullable().describe('of the message in the recording'),
      })
      .nullable()
      .describe('the first one'),
    arm: z.string().nullable().describe('the arm of an experiment that it is a run of; null: of none'),
    check: z
      .strictObject({ command: z.string(), end })
      .nullable()
      .describe('the command that checked what it left behind; null: none did'),
    forks: z
      .array(z.strictObject({ history: z.string(), branchId: count }))
      .describe('the branches with its calls that went to providers'),
    details,
  })
  .meta({ id: 'Rerun' });

export const runs = {
  name: 'runs',
  method: 'GET',
  path: '/api/histories/{history}/runs',
  summary:
    'Lists the programs that were run and whose calls are in a history, and what came of running them again; the newest last.',
  params: historyParams,
  query: z.strictObject({
    limit: optionalWhole('the most runs and the most reruns, the newest ones, at most 1,000 (default: 100)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z
      .strictObject({
        history: z.string(),
        runs: z.array(ProgramRunAnswer),
        reruns: z.array(RerunAnswer),
        total: z.strictObject({ runs: count, reruns: count }).describe('all of them'),
      })
      .meta({ id: 'ProgramRuns' }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
} as const satisfies Question;
