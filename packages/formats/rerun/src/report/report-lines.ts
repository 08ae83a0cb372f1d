import {
  abbreviated,
  changedLines,
  nextSteps,
  shortValue,
  shownToText,
  whereItDiffers,
  whyItDiffers,
  type ChangedLine,
  type TextDifference,
} from '@stemma/api';
import { visibleText } from '@stemma/errors';
import { textDifferences } from '@stemma/model-apis';
import { describedDifference } from '../difference/difference.ts';
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
    ...nextLines(calls, facts),
  ];
};

const callLines = (call: SummarizedCall, width: number, facts: LineFacts): readonly string[] => {
  const { label, how, bindings, difference } = call;
  const first = label.padEnd(width);
  if (how === 'extra') return [`${first}extra: no recorded call stands for it`];
  if (difference === null) return [`${first}${how === 'bound' ? boundText(bindings) : how}`];
  const by =
    difference.message === null || difference.a === null ? null : facts.recordedBy(label, difference.message);
  const described = describedDifference(difference);
  const shown = shownText(call);
  const origin = [by === null ? null : `recorded by ${by}`, shown].filter((each) => each !== null).join('; ');
  return [
    `${first}differs`,
    ...[
      oneLine(whereItDiffers(described)),
      ...marked(difference.a ?? '', difference.b ?? '').map((line) => `  ${line}`),
      oneLine(`cause: ${whyItDiffers(described)}`),
      ...(origin === '' ? [] : [origin]),
    ].map((line) => `      ${line}`),
  ];
};

const MOST_VALUES = 3;

const boundText = (bindings: readonly Binding[]): string => {
  const values = bindings
    .slice(0, MOST_VALUES)
    .map(({ kind, mask, recorded, now }) =>
      oneLine(`${mask ?? kind} ${shortValue(recorded)} is ${shortValue(now)} here`),
    );
  const more = bindings.length > MOST_VALUES ? `, and ${bindings.length - MOST_VALUES} more` : '';
  return `same, ${bindings.length} value${bindings.length === 1 ? '' : 's'} bound: ${values.join(', ')}${more}`;
};

/** A text that others wrote forges no line of the report. */
const oneLine = (text: string): string => visibleText(text.replaceAll('\n', ' '));

const shownText = ({ shownTo, ledTo }: SummarizedCall): string | null => {
  const [first, last] = [shownTo[0], shownTo.at(-1)];
  return first === undefined || last === undefined || ledTo === null
    ? null
    : `shown to ${shownToText(first, last, ledTo)}`;
};

const MOST_LINES = 20;

/** What went and what came, as wdiff marks it: the lines that changed, each with one around it. */
const marked = (a: string, b: string): readonly string[] => {
  const lines = changedLines(textDifferences(a, b)).map(lineText);
  return lines.length <= MOST_LINES
    ? lines
    : [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} lines more`];
};

const lineText = (line: ChangedLine): string =>
  line.what === 'equal'
    ? `… ${line.lines} equal line${line.lines === 1 ? '' : 's'}`
    : visibleText(line.parts.map(markedPart).join(''));

const markedPart = ({ kind, text }: TextDifference): string => {
  if (kind === 'removed') return `[-${abbreviated(text)}-]`;
  return kind === 'added' ? `{+${abbreviated(text)}+}` : text;
};

const nextLines = (
  calls: readonly SummarizedCall[],
  { command, canGoLive }: LineFacts,
): readonly string[] => {
  const steps = nextSteps(firstOf(calls), command, canGoLive);
  const width = Math.max(...steps.map(({ words }) => words.length)) + 11;
  return steps.map(({ words, question }) => `  ${`${words} -- …`.padEnd(width)}${question}`);
};

const firstOf = (
  calls: readonly SummarizedCall[],
): { readonly label: string; readonly cause: string } | null => {
  const first = calls.find(({ how }) => how === 'differs')?.difference ?? null;
  return first && { label: first.of, cause: first.cause };
};
