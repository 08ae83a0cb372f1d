import { fail } from '@stemma/errors';
import {
  FirstDifference,
  GitCommit,
  ProgramEnd,
  EndedRerunCounts,
  RerunDetails as RecordedDetails,
  type RerunDetails,
} from '@stemma/events';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { checkedInCall } from '../decide/call-bodies.ts';
import { textsAround } from '../decide/texts-around.ts';
import { count, id } from './fields.ts';
import { words } from './record-run.ts';
import { defineStep } from './step.ts';

/** The ids of reruns begin so. */
export const RERUN = 'rerun-';

/** True for the id of a rerun: no rerun stands for a recorded run. */
export const isRerun = (run: string): boolean => run.startsWith(RERUN);

/** The id of the command that records the end of a rerun: it ends once. */
export const endOfRerun = (rerun: string): string => `${rerun}.ended`;

/** What is kept of a report: so many calls, results of tools, and characters of each text. */
const MOST_CALLS = 200;
export const MOST_RERUN_RESULTS = 5;
const LONGEST = 4_000;

/**
 * A text beside the name of its parameter: where the name says that its value is a secret, the value is taken out. Texts come whole and
 * are cut when they have lost their secrets, so no part of one is left.
 */
const namedText = z.strictObject({ name: z.string().nullable(), value: z.string() }).nullable();

const bothTexts = { recorded: namedText, now: namedText };

const { askedBy, shownTo } = RecordedDetails.shape.difference.unwrap().shape;

/** The texts of a report. */
const reportTexts = z.strictObject({
  difference: z
    .strictObject({
      role: z.string().max(256).nullable(),
      name: z.string().nullable(),
      ...bothTexts,
      ...{ askedBy, shownTo },
      gone: count,
      by: z.string().max(256).nullable(),
    })
    .nullable(),
  world: z.array(z.strictObject({ call: z.string(), tool: z.string(), ...bothTexts })),
});
type ReportTexts = z.infer<typeof reportTexts>;

const detailsOf = ({ difference, world }: ReportTexts, calls: RerunDetails['calls']): RerunDetails => ({
  calls: calls.slice(0, MOST_CALLS),
  difference: difference && {
    ...difference,
    name: difference.name && cut(difference.name),
    ...textsAround(difference.recorded?.value ?? null, difference.now?.value ?? null, LONGEST),
    askedBy: difference.askedBy && {
      call: difference.askedBy.call,
      tool: cut(difference.askedBy.tool),
      arguments: cut(difference.askedBy.arguments),
    },
  },
  world: world.slice(0, MOST_RERUN_RESULTS).map(({ call, tool, recorded, now }) => ({
    ...{ call, tool: cut(tool) },
    ...textsAround(recorded?.value ?? null, now?.value ?? null, LONGEST),
  })),
});

const cut = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}…` : text;

/**
 * Records what came of running a recorded agent again. The id of the command is the rerun's with `.ended` behind it.
 *
 * @throws E_COMMAND_INVALID
 */
export const endRerun = defineStep({
  op: 'end_rerun',
  schema: z.strictObject({
    op: z.literal('end_rerun'),
    rerun: id.max(240).startsWith(RERUN),
    of: id.max(256).nullable(),
    command: words,
    directory: z.string().max(65_536),
    commit: GitCommit.nullable(),
    startedAt: count,
    endedAt: count,
    end: ProgramEnd,
    exit: z.int().min(0).max(255),
    counts: EndedRerunCounts,
    bindings: z.array(z.strictObject({ kind: z.string().min(1).max(64), count })).max(1_000),
    difference: FirstDifference.extend({
      label: z.string().max(1_024),
      cause: z.string().max(64),
      node: z.string().max(1_024).nullable(),
    }).nullable(),
    arm: z.string().min(1).max(256).optional(),
    check: z.string().max(65_536).optional(),
    checkEnd: ProgramEnd.optional(),
    /** What a page shows of it besides; none: nothing more than this is recorded. */
    calls: z.array(z.strictObject({ label: z.string().max(1_024), how: z.string().max(64) })).optional(),
    forks: z
      .array(z.strictObject({ history: id.max(256), branchId: count }))
      .max(1_000)
      .optional(),
    texts: reportTexts.optional(),
  }),
  on: 'its branch',
  kind: 'rerun',
  alone: true,
  byActor: true,
  secrets: {
    command: { as: 'data_command' },
    directory: { as: 'directory' },
    rerun: 'none',
    of: 'name',
    commit: 'none',
    startedAt: 'none',
    endedAt: 'none',
    end: 'none',
    exit: 'none',
    counts: 'none',
    bindings: 'none',
    difference: 'none',
    arm: { as: 'arm' },
    check: { as: 'data_check' },
    checkEnd: 'none',
    forks: 'none',
    calls: 'none',
    texts: { as: 'data_report' },
  },
  *decide(pending, { op: _op, command, directory, check, calls = [], texts, ...ended }) {
    if (pending.command !== endOfRerun(ended.rerun))
      throw fail(
        'E_COMMAND_INVALID',
        `the command that ends a rerun must have the id ${endOfRerun(ended.rerun)}`,
      );
    yield {
      type: 'RerunEnded',
      ...ended,
      directory: checkedInCall(directory, 'the directory') as string,
      payload: {
        data_command: checkedInCall(command, 'the command'),
        ...defined({
          data_check: check === undefined ? undefined : checkedInCall(check, 'the check'),
          data_report: texts === undefined ? undefined : checkedInCall(detailsOf(texts, calls), 'the report'),
        }),
      },
    };
  },
});
