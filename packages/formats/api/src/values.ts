import { z } from 'zod';

/** Any JSON value, with integers of any size. Its inside is the recorder's business, not the contract's. */
export const anyJson = z.unknown();

/** A whole number from 0. */
export const count = z.int().min(0);

/** Nanoseconds since 1970: up to 19 digits, so beyond what a JavaScript number holds exactly. */
export const nanoseconds = z.union([z.int(), z.bigint()]).describe('nanoseconds since 1970, in bare digits');

/** Milliseconds since 1970. */
export const milliseconds = z.int().describe('milliseconds since 1970');

export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Parts of an address are texts: a whole number among them is read here. */
export const wholeInQuery = z.preprocess(
  (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
  z
    .int({
      error: ({ input }) => `a whole number from 0 is wanted, not ${JSON.stringify(input).slice(0, 40)}`,
    })
    .nonnegative(),
);

export const optionalWhole = (describe: string) => wholeInQuery.optional().describe(describe);

/** Who wrote a frame: an agent's own record names its recorder, an observer's act its actor. */
export const author = z
  .union([z.strictObject({ recorder: z.string().min(1) }), z.strictObject({ actor: z.string().min(1) })])
  .meta({ id: 'Author' });

/** A history by id, the beginning of an id, or name; or a branch by id or name (context-tree §5). */
export const historyParam = z.string().min(1).max(600).describe('a history or branch, by id or name');

/** Parameters of what is asked of one history or branch. */
export const historyParams = z.strictObject({ history: historyParam });

/** `@t0 @t-1 @c12 @s57 @name:NAME`; none: the working state (context-tree §5). */
export const reference = z
  .string()
  .min(1)
  .max(300)
  .describe('a position: @t0 @t-1 @c12 @s57 @name:NAME (default: the working state)');
