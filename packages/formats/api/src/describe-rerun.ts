/** Where a call of a rerun differs from the recorded one, and why. */
export type DescribedDifference = {
  /** One of the causes that docs/rerun.md lists. */
  readonly cause: string;
  /** The number of the message, from 1; null: it is no message. */
  readonly message: number | null;
  readonly role: string | null;
  /** The path of a parameter, or the name of a tool and the path in it. */
  readonly name: string | null;
  /** What was recorded, and what came; null: nothing stands there. */
  readonly a: string | null;
  readonly b: string | null;
  /** What a result answers, and the recorded call that asked for it. */
  readonly askedBy: {
    readonly tool: string;
    readonly arguments: string;
    readonly call: string | null;
  } | null;
  /** An id that stands for another one elsewhere, where nothing else differs. */
  readonly conflict: { readonly now: string; readonly recorded: string; readonly known: string } | null;
  /** How many messages a shortened history no longer has. */
  readonly gone: number;
};

const ROLES: Readonly<Record<string, string>> = {
  system: 'the system prompt',
  developer: "the developer's instructions",
  user: "a user's text",
  assistant: 'an answer',
  tool: 'a result',
  function: 'a result',
};

/** Where a call differs: `message 8, result of lookup({"q":"pier-2"}), which @c3 asked for`. */
export const whereItDiffers = ({
  message,
  role,
  name,
  askedBy,
}: Pick<DescribedDifference, 'message' | 'role' | 'name' | 'askedBy'>): string => {
  if (message === null) return name ?? 'the request';
  const number = `message ${message}`;
  if (askedBy === null) return role === null ? number : `${number}, ${ROLES[role] ?? role}`;
  const asked = `result of ${askedBy.tool}(${abbreviated(askedBy.arguments)})`;
  return `${number}, ${asked}${askedBy.call === null ? '' : `, which ${askedBy.call} asked for`}`;
};

/** Why a call differs, and what that leaves out as a cause. */
const SENTENCES: Readonly<Record<string, readonly [what: string, besides: string]>> = {
  parameters: ['a parameter is another one', ''],
  tools: ['the tools are others', '; the parameters are the same'],
  prompt: ['the prompt says something else', '; tools and parameters are the same'],
  question: ['a user says something else', '; prompt, tools and parameters are the same'],
  'tool result': ['a tool gave something else', '; prompt, tools and parameters are the same'],
  'answer edited': ['the agent changed an answer', '; what came before it is the same'],
  'history shortened': ['the agent left messages out', ''],
  order: ['the same messages come in another order', ''],
  extra: ['a call came that no recorded one stands for', ''],
  missing: ['a recorded call did not come', ''],
};

/** Why a call differs, in a few words: `a tool gave something else`. */
export const causeWords = (cause: string): string => SENTENCES[cause]?.[0] ?? cause;

/** Why a call differs: `a tool gave something else; prompt, tools and parameters are the same`. */
export const whyItDiffers = ({
  cause,
  a,
  b,
  conflict,
  gone,
}: Pick<DescribedDifference, 'cause' | 'a' | 'b' | 'conflict' | 'gone'>): string => {
  if (conflict !== null)
    return `${shortValue(conflict.now)} stands in the place of ${shortValue(conflict.recorded)}, and one of them stands for ${shortValue(conflict.known)}`;
  const isCall = cause === 'extra' || cause === 'missing';
  const only = isCall
    ? ''
    : a === null
      ? ' (it was not recorded)'
      : b === null && cause !== 'history shortened'
        ? ' (it is gone)'
        : '';
  return `${causeWords(cause)}${SENTENCES[cause]?.[1] ?? ''}${only}${gone > 0 ? `: ${gone} are gone` : ''}`;
};

/** The recorded calls that show a message: `@c4 … @c6 (3 calls, 1,155 tokens)`. */
export const shownToText = (
  first: string,
  last: string,
  { calls, tokens }: { readonly calls: number; readonly tokens: number },
): string =>
  `${first === last ? first : `${first} … ${last}`} (${calls} call${calls === 1 ? '' : 's'}, ${grouped(tokens)} tokens)`;

/** 1234567 as 1,234,567. */
export const grouped = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');

const MOST_CHARACTERS = 32;

/** A value of a call in few characters: an id is known by its beginning, a time only as a whole. */
export const shortValue = (value: string): string =>
  value.length > MOST_CHARACTERS ? `${value.slice(0, 8)}…` : value;

const LONGEST = 2_000;

/** A text of which at most 2,000 characters are shown. */
export const abbreviated = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;

/** How many calls of a rerun came out how. */
export type DescribedCounts = {
  /** In whatever order. */
  readonly same: number;
  readonly bound: number;
  readonly differs: number;
  readonly extra: number;
  readonly missing: number;
  readonly live: number;
  readonly notKept: number;
};

/** What came of a rerun, in a sentence: `@c4 differs: a tool gave something else`. @param first the first call that is not as recorded */
export const rerunHeadline = (
  counts: DescribedCounts,
  first: { readonly label: string; readonly cause: string } | null,
  exit: number,
): string => {
  const { same, bound, differs, missing, live, notKept } = counts;
  if (first !== null && differs > 0) return `${first.label} differs: ${causeWords(first.cause)}`;
  if (first?.cause === 'extra') return 'Calls came that no recorded one stands for';
  if (missing > 0)
    return missing === 1 ? 'A recorded call did not come' : `${missing} recorded calls did not come`;
  if (notKept > 0) return 'Calls came whose answers are not kept';
  const served = `${same + bound === 1 ? 'The one call that was' : `All ${same + bound} calls that were`} answered from the recording ${same + bound === 1 ? 'is' : 'are'} the same`;
  const answered = live > 0 ? `${served}, ${live} went to the provider` : served;
  return exit === 1 ? `${answered}, and the command or its check ended otherwise` : answered;
};

/** A command that goes on from a rerun, up to the `--` before the words of the agent, and the question that it answers. */
export type NextStep = { readonly words: string; readonly question: string };

/**
 * What may be asked after a call differed; nothing if none did.
 *
 * @param first the first call that differs
 * @param command up to its options: `stemma rerun shop`
 * @param canGoLive false: no call can go to its provider, so none is proposed
 */
export const nextSteps = (
  first: { readonly label: string; readonly cause: string } | null,
  command: string,
  canGoLive: boolean,
): readonly NextStep[] => {
  if (first === null) return [];
  return [
    ...(first.cause === 'tool result'
      ? [{ words: `${command} --tools recorded`, question: 'does the rest hold if the tool says the same?' }]
      : []),
    ...(canGoLive
      ? [{ words: `${command} --from ${first.label}`, question: 'what does the model say to that?' }]
      : []),
  ];
};
