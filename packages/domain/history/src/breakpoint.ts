import type { WideJson } from '@stemma/canonical';
import { fail, issueText } from '@stemma/errors';
import { AFTER_TIMEOUT } from '@stemma/events';
import { z } from 'zod';
import type { Config } from './config.ts';

/** The most milliseconds that a call is held. */
const MAX_TIMEOUT = 86_400_000;

const text = z.string().min(1).max(10_000);

/**
 * When a call is held before it goes out: where all of its conditions are true. It is a setting of a branch, `breakpoint.NAME`, which
 * branches that start there have too (calls §5).
 */
const Breakpoint = z
  .strictObject({
    /** A selector that matches a node of the tree as it would be sent. */
    when: text.optional(),
    /** The number of the cycle that the call would be of. */
    cycle: z.int().min(1).optional(),
    /** The name of a model, or the beginning of one and `*`. */
    model: text.optional(),
    /** The call brings a call of this tool. */
    tool: text.optional(),
    /** A selector with a range that has changes. */
    changed: text.optional(),
    timeout_ms: z.int().min(1).max(MAX_TIMEOUT),
    then: z.enum(AFTER_TIMEOUT),
  })
  .refine(
    ({ when, cycle, model, tool, changed }) =>
      [when, cycle, model, tool, changed].some((each) => each !== undefined),
    'a breakpoint has a condition: when, cycle, model, tool or changed',
  );
export type Breakpoint = z.infer<typeof Breakpoint>;

const PREFIX = 'breakpoint.';
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The key of the setting. @throws E_CONFIG_INVALID */
export const breakpointKey = (name: string): string => {
  if (NAME.test(name)) return PREFIX + name;
  throw fail('E_CONFIG_INVALID', `${JSON.stringify(name.slice(0, 140))} names no breakpoint`);
};

/** True for the key of a setting that steers calls. */
export const isSteeringKey = (key: string): boolean => key === 'steer' || key.startsWith(PREFIX);

/** Refuses what is no value of such a setting; null unsets it. @throws E_CONFIG_INVALID */
export const checkSteering = (key: string, value: WideJson): void => {
  if (value === null || !isSteeringKey(key)) return;
  if (key === 'steer') {
    if (typeof value !== 'boolean') throw fail('E_CONFIG_INVALID', 'steer must be true or false', { key });
    return;
  }
  breakpointKey(key.slice(PREFIX.length));
  const { error } = Breakpoint.safeParse(value);
  if (error !== undefined)
    throw fail('E_CONFIG_INVALID', issueText(error.issues, 'the breakpoint').sentence, { key });
};

/** The breakpoints of a branch, by name. */
export const breakpointsOf = (
  config: Config,
): readonly { readonly name: string; readonly breakpoint: Breakpoint }[] =>
  Object.entries(config).flatMap(([key, value]) => {
    const breakpoint = key.startsWith(PREFIX) ? Breakpoint.safeParse(value).data : undefined;
    return breakpoint === undefined ? [] : [{ name: key.slice(PREFIX.length), breakpoint }];
  });

/** True if observers steer the calls of a branch with these settings: in mode `steer`, or by breakpoints (calls §5). */
export const isSteered = (config: Config): boolean =>
  config['steer'] === true || Object.keys(config).some((key) => key.startsWith(PREFIX));

/** The settings of a branch that steer calls. */
export const steeringOf = (config: Config): { readonly [key: string]: WideJson } =>
  Object.fromEntries(Object.entries(config).filter(([key]) => isSteeringKey(key)));
