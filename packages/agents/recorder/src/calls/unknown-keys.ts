import { platform } from '#call-platform';
import type { CallRecorderOptions, CallScopeOptions, InnerOptions } from './options.ts';
import type { SaidAnswer, SaidCall } from './said.ts';
import { openCallWarnings } from './warnings.ts';

type Said = Record<keyof SaidCall, true>;
type Answer = Record<keyof SaidAnswer, true>;
type Options = Record<
  keyof CallRecorderOptions | keyof CallScopeOptions | keyof InnerOptions | 'calls',
  true
>;

/** What each of the objects holds: the compiler demands every key of its type. */
const KEYS: {
  readonly call: Said;
  readonly answer: Answer;
  readonly options: Options;
} = {
  call: { messages: true, model: true, tools: true, parameters: true },
  answer: {
    answer: true,
    error: true,
    status: true,
    model: true,
    finishReason: true,
    answerId: true,
    usage: true,
    firstByteMs: true,
    durationMs: true,
  },
  options: {
    url: true,
    home: true,
    recorder: true,
    redact: true,
    directory: true,
    limit: true,
    exitTimeout: true,
    warn: true,
    history: true,
    run: true,
    fetch: true,
    calls: true,
    times: true,
  },
};

/** So many sentences are remembered; a program that makes up keys hears more. */
const MOST_SAID = 1_000;
const said = new Set<string>();

/**
 * Says once which keys of an object nobody reads: without types nothing else would. It throws nothing.
 *
 * @param name the function that was given the object
 */
export const sayUnknownKeys = (
  name: string,
  what: keyof typeof KEYS,
  given: object,
  warn: ((sentence: string) => void) | undefined,
): void => {
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(KEYS[what], key));
  if (unknown.length === 0) return;
  const keys = unknown.slice(0, 10).map((key) => key.slice(0, 100));
  const isMisplaced = what === 'call' && unknown.every((key) => Object.hasOwn(KEYS.options, key));
  const sentence = isMisplaced
    ? `${name} takes options in its second argument: ${name}({ messages }, { ${keys.join(', ')} })`
    : `${name} does not know ${keys.join(', ')}: nothing reads what stands there`;
  if (said.has(sentence)) return;
  if (said.size < MOST_SAID) said.add(sentence);
  openCallWarnings(warn ?? platform.say).say(name, sentence);
};
