import { visibleText } from '@stemma/errors';
import { textDifferences, type TextDifference } from '@stemma/model-apis';
import type { DifferenceCause, Difference } from '../difference/difference.ts';
import type { RerunSummary, SummarizedCall } from '../summary.ts';
import type { Binding } from '../values/bindings.ts';
import { rerunExit, type AgentEnds } from './report.ts';

/** What the text of a report says besides what came of the calls. */
export type LineFacts = {
  /** The command up to its options: `stemma rerun shop`. */
  readonly command: string;
  /** False: no call can go to its provider, so none is proposed. */
  readonly canGoLive: boolean;
  readonly ends: AgentEnds;
  /** Who recorded a message, in words: `@s4 (n:0:4:2), 12 Nov, proxy`; null: not known. @param message its number, from 0 */
  readonly recordedBy: (label: string, message: number) => string | null;
};

/** The report as lines of text: a call each, then what differs and why, the counts, and what to do next. */
export const reportLines = (summary: RerunSummary, facts: LineFacts): readonly string[] => {
  const { calls, counts, world, notes } = summary;
  const width = Math.max(0, ...calls.map(({ label }) => label.length)) + 2;
  const { same, bound, differs, extra, missing, live, notKept, recorded } = counts;
  const rare = [
    extra > 0 ? `extra ${extra}` : null,
    live > 0 ? `live ${live}` : null,
    notKept > 0 ? `not kept ${notKept}` : null,
  ].filter((each) => each !== null);
  const totals = [
    `same ${same}`,
    `bound ${bound}`,
    `differs ${differs}`,
    `missing ${missing} of ${recorded}`,
    ...rare,
  ];
  return [
    ...calls.flatMap((call) => callLines(call, width, facts)),
    ...world.flatMap(({ call, tool, a, b }) => [
      `the world differs at ${call}: ${visibleText(tool)} gave something else`,
      ...marked(a, b).map((line) => `        ${line}`),
    ]),
    ...notes.map((note) => `note: ${visibleText(note)}`),
    `${totals.join(', ')}     exit ${rerunExit(summary, facts.ends)}`,
    ...nextSteps(calls, facts),
  ];
};

const callLines = (call: SummarizedCall, width: number, facts: LineFacts): readonly string[] => {
  const { label, how, bindings, difference } = call;
  const first = label.padEnd(width);
  if (how === 'extra') return [`${first}extra: no recorded call stands for it`];
  if (difference === null) return [`${first}${how === 'bound' ? boundText(bindings) : how}`];
  const by =
    difference.message === null || difference.a === null ? null : facts.recordedBy(label, difference.message);
  const shown = shownText(call);
  const origin = [by === null ? null : `recorded by ${by}`, shown].filter((each) => each !== null).join('; ');
  return [
    `${first}differs`,
    ...[
      whereText(difference),
      ...differenceText(difference).map((line) => `  ${line}`),
      `cause: ${causeText(difference)}`,
      ...(origin === '' ? [] : [origin]),
    ].map((line) => `      ${line}`),
  ];
};

const MOST_VALUES = 3;

const boundText = (bindings: readonly Binding[]): string => {
  const values = bindings
    .slice(0, MOST_VALUES)
    .map(({ kind, mask, recorded, now }) => `${mask ?? kind} ${short(recorded)} is ${short(now)} here`);
  const more = bindings.length > MOST_VALUES ? `, and ${bindings.length - MOST_VALUES} more` : '';
  return `same, ${bindings.length} value${bindings.length === 1 ? '' : 's'} bound: ${values.join(', ')}${more}`;
};

const MOST_CHARACTERS = 32;
/** An id is known by its beginning, a time only as a whole. */
const short = (value: string): string =>
  visibleText(value.length > MOST_CHARACTERS ? `${value.slice(0, 8)}…` : value);

const ROLES: Readonly<Record<string, string>> = {
  system: 'the system prompt',
  developer: "the developer's instructions",
  user: "a user's text",
  assistant: 'an answer',
  tool: 'a result',
  function: 'a result',
};

const whereText = ({ message, role, name, askedBy }: Difference): string => {
  if (message === null) return visibleText(name ?? 'the request');
  const number = `message ${message + 1}`;
  if (askedBy === null) return `${number}, ${ROLES[role ?? ''] ?? visibleText(role ?? '')}`;
  const asked = `result of ${visibleText(`${askedBy.tool}(${abbreviated(askedBy.arguments)})`)}`;
  return `${number}, ${asked}${askedBy.call === null ? '' : `, which ${askedBy.call} asked for`}`;
};

const SENTENCES: Readonly<Record<DifferenceCause, string>> = {
  parameters: 'a parameter is another one',
  tools: 'the tools are others; the parameters are the same',
  prompt: 'the prompt says something else; tools and parameters are the same',
  question: 'a user says something else; prompt, tools and parameters are the same',
  'tool result': 'a tool gave something else; prompt, tools and parameters are the same',
  'answer edited': 'the agent changed an answer; what came before it is the same',
  'history shortened': 'the agent left messages out',
  order: 'the same messages come in another order',
};

const causeText = ({ cause, a, b, conflict, gone }: Difference): string => {
  if (conflict !== null)
    return `${short(conflict.now)} stands in the place of ${short(conflict.recorded)}, and one of them stands for ${short(conflict.known)}`;
  const only =
    a === null
      ? ' (it was not recorded)'
      : b === null && cause !== 'history shortened'
        ? ' (it is gone)'
        : '';
  return `${SENTENCES[cause]}${only}${gone > 0 ? `: ${gone} are gone` : ''}`;
};

const shownText = ({ shownTo, ledTo }: SummarizedCall): string | null => {
  const [first, last] = [shownTo[0], shownTo.at(-1)];
  if (first === undefined || last === undefined || ledTo === null) return null;
  const calls = `${ledTo.calls} call${ledTo.calls === 1 ? '' : 's'}`;
  return `shown to ${first === last ? first : `${first} … ${last}`} (${calls}, ${grouped(ledTo.tokens)} tokens)`;
};

const grouped = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');

const differenceText = ({ a, b }: Difference): readonly string[] => {
  if (a === null) return marked('', b ?? '');
  return b === null ? marked(a, '') : marked(a, b);
};

/** A text that stays is shown so far before and behind what changed. */
const AROUND = 60;
const MOST_LINES = 20;
const LONGEST = 2_000;

/** What went and what came, as wdiff marks it, one line for each line of the texts. */
const marked = (a: string, b: string): readonly string[] => {
  const parts = textDifferences(a, b);
  const text = parts.map((part, i) => markedPart(part, i === 0, i === parts.length - 1)).join('');
  const lines = visibleText(text).split('\n');
  return lines.length <= MOST_LINES
    ? lines
    : [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} lines more`];
};

const markedPart = ({ kind, text }: TextDifference, isFirst: boolean, isLast: boolean): string => {
  if (kind === 'removed') return `[-${abbreviated(text)}-]`;
  if (kind === 'added') return `{+${abbreviated(text)}+}`;
  if (text.length <= 2 * AROUND) return text;
  return `${isFirst ? '' : text.slice(0, AROUND)}…${isLast ? '' : text.slice(-AROUND)}`;
};

const abbreviated = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

const nextSteps = (
  calls: readonly SummarizedCall[],
  { command, canGoLive }: LineFacts,
): readonly string[] => {
  const first = calls.find(({ how }) => how === 'differs')?.difference;
  if (first === undefined || first === null) return [];
  const steps: (readonly [string, string])[] = [
    ...(first.cause === 'tool result'
      ? [[`${command} --tools recorded -- …`, 'does the rest hold if the tool says the same?'] as const]
      : []),
    ...(canGoLive
      ? [[`${command} --from ${first.of} -- …`, 'what does the model say to that?'] as const]
      : []),
  ];
  const width = Math.max(...steps.map(([step]) => step.length)) + 6;
  return steps.map(([step, question]) => `  ${step.padEnd(width)}${question}`);
};
