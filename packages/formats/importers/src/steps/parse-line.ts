import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { fail, issueText } from '@stemma/errors';
import type { Step } from '@stemma/history';
import { defined, nanosecondsOf } from '@stemma/values';
import { z } from 'zod';

const json = z.custom<WideJson>((value) => value !== undefined);
const text = z.string().min(1);
/** An instant in UTC (`…Z`); only milliseconds of a fraction count. */
const instant = z.iso
  .datetime()
  .refine((at) => Date.parse(at) >= 0, 'times begin with 1970')
  .optional();

/** The lines of a steps file; further fields of `insert` and `replace` belong to the node. */
const StepLine = z.discriminatedUnion('op', [
  z.strictObject({
    op: z.literal('start'),
    steps: z.literal(1),
    about: z.string().optional(),
    thread: z.enum(['full', 'pre']).optional(),
  }),
  z.looseObject({ op: z.literal('insert'), parent: text.default('^ah'), at: instant }),
  z.looseObject({ op: z.literal('replace'), id: text }),
  z.strictObject({ op: z.literal('move'), id: text, parent: text }),
  z.strictObject({ op: z.literal('remove'), id: text }),
  z.strictObject({ op: z.literal('commit'), at: instant, turn: text.optional() }),
  z.strictObject({ op: z.literal('policy'), policy: json }),
  z.strictObject({
    op: z.literal('priorities'),
    priorities: z.array(z.strictObject({ id: text, priority: z.number() })).min(1),
  }),
  z.strictObject({ op: z.literal('name'), name: text }),
  z.strictObject({ op: z.literal('annotate'), note: z.string() }),
]);
type StepLine = z.infer<typeof StepLine>;
export type StartLine = Extract<StepLine, { op: 'start' }>;

/**
 * The value as a checked line.
 *
 * @throws E_INPUT_SHAPE naming the line and the fault.
 */
export const parseLine = (value: WideJson, where: string): StepLine => {
  const parsed = StepLine.safeParse(value);
  if (parsed.success) return parsed.data;
  throw fail('E_INPUT_SHAPE', `${where}: ${issueText(parsed.error.issues, 'the step').sentence}`);
};

/** The step of a command for a line. Without a time of its own it gets the next nanosecond. */
export const stepOf = (line: Exclude<StepLine, StartLine>): Step => {
  switch (line.op) {
    case 'insert': {
      const { op, parent, at, ...node } = line;
      return { op, parent, node: { nodeType: 'cb', ...(node as WideJsonObject) }, at_ns: nanoseconds(at) };
    }
    case 'replace': {
      const { op, id, ...set } = line;
      return { op, id, set: set as WideJsonObject };
    }
    case 'commit':
      return {
        op: 'commit',
        at_ns: nanoseconds(line.at),
        ...defined({ turn_id: line.turn }),
      };
    case 'move':
    case 'remove':
    case 'policy':
    case 'priorities':
    case 'name':
    case 'annotate':
      return line;
  }
};

const nanoseconds = (at: string | undefined): bigint =>
  at === undefined ? 0n : nanosecondsOf(Date.parse(at));
