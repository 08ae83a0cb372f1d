import { fail } from '@stemma/errors';
import type { RerunOptions } from '@stemma/rerun';
import { texts } from '../mind-options.ts';
import { text } from '../options.ts';

type Options = Readonly<Record<string, unknown>>;

/** The options that say how calls are judged. */
export const JUDGING_OPTIONS: readonly (readonly [syntax: string, description: string])[] = [
  [
    '--on-difference <what>',
    'what becomes of a call that differs: stop (an error that no client repeats), serve (the recorded answer) or live (its provider answers, in a fork) (default: stop)',
  ],
  [
    '--errors <how>',
    'recorded: failed attempts happen again; skip: only answered ones do (default: recorded)',
  ],
  [
    '--values <how>',
    'bound: ids, times and paths may be others, one for one; strict: none may (default: bound)',
  ],
  [
    '--tools <which>',
    'real: results of tools are compared as they come; recorded: the recorded ones stand in their place (default: real)',
  ],
  ['--mask <name=pattern...>', 'what may be another value, too: a name, and a pattern that such a value has'],
];

/** How calls are judged. @throws E_USAGE for a word that an option does not have */
export const judgedBy = (options: Options): Omit<RerunOptions, 'folders' | 'offsets' | 'from'> => ({
  onDifference: oneOf(options, 'onDifference', ['stop', 'serve', 'live']),
  errors: oneOf(options, 'errors', ['recorded', 'skip']),
  values: oneOf(options, 'values', ['bound', 'strict']),
  tools: oneOf(options, 'tools', ['real', 'recorded']),
  masks: texts(options, 'mask').map(maskOf),
});

/** One of the words that an option takes, the first one unless it is given. @throws E_USAGE */
export const oneOf = <const Word extends string>(
  options: Options,
  name: string,
  words: readonly [Word, ...Word[]],
): Word => {
  const given = text(options, name);
  if (given === undefined) return words[0];
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw fail('E_USAGE', `--${flag} is ${words.join(' or ')}, not ${JSON.stringify(given.slice(0, 200))}`);
};

const maskOf = (given: string): RerunOptions['masks'][number] => {
  const [, name, pattern] = /^([A-Za-z0-9_-]{1,64})=(.+)$/s.exec(given) ?? [];
  if (name === undefined || pattern === undefined)
    throw fail('E_USAGE', `--mask is NAME=PATTERN, not ${JSON.stringify(given.slice(0, 200))}`);
  return { name, pattern, in: 'any' };
};
