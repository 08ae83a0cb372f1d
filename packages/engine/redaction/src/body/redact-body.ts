import { canonicalJson, isJsonObject, parseWideJson, type WideJson } from '@stemma/canonical';
import { MAX_INNER_JSON, redactText, redactValue, type Walk } from '../redact-value.ts';
import type { SecretLocation } from '../tally.ts';
import { completedJson } from './completed-json.ts';
import { spread, textsOverEvents } from './fragments.ts';
import { isEventStream, printLines, readStream, type StreamLine } from './stream-lines.ts';

const NOWHERE: SecretLocation = { step: null, node: null, field: 'body' };

/** What takes secrets out of a body. */
type BodyWalk = {
  readonly value: (value: WideJson) => WideJson;
  /** A text as a value of an event: its names count, if it is JSON. */
  readonly text: (text: string) => string;
};

/**
 * A body of a request or an answer without its secrets; null if nobody can rewrite it surely. Of a stream of events those are
 * found, too, that are cut into several of them: its events can be read as before, and say what an answer without secrets says.
 */
export const redactBody = (walk: Walk, text: string): string | null => {
  const walks: BodyWalk = {
    value: (value) => redactValue(walk, value, NOWHERE, []),
    text: (each) => redactText(walk, each, NOWHERE),
  };
  if (isEventStream(text)) return redactEventStream(walks, text);
  const whole = parsed(text);
  if (Array.isArray(whole)) {
    const list = whole as WideJson[];
    return redactEvents(walks, list) ? walks.text(canonicalJson(list)) : walks.text(text);
  }
  if (whole !== undefined) return walks.text(text);
  const lines = linesOfJson(text);
  if (lines !== undefined) return redactJsonLines(walks, lines);
  const done = walks.text(text);
  const cut = completedJson(text);
  // What is cut off in the middle of a value cannot be written anew.
  return cut === undefined || (done === text && walks.value(cut) === cut) ? done : null;
};

const parsed = (text: string): WideJson | undefined => {
  if (text.length > MAX_INNER_JSON) return undefined;
  try {
    return parseWideJson(text);
  } catch {
    return undefined;
  }
};

/**
 * Takes secrets out of the values of events, in place. Tokens with their probabilities say a text once more, in pieces and in
 * numbers: where something was taken out they go.
 *
 * @returns true if something was taken out that one event alone does not show
 */
const redactEvents = (walks: BodyWalk, events: (WideJson | undefined)[]): boolean => {
  let isChanged = false;
  for (const fragments of textsOverEvents(events)) {
    const before = fragments.map(({ text }) => text).join('');
    const after = walks.text(before);
    if (after === before) continue;
    isChanged = true;
    spread(fragments, before, after);
  }
  if (isChanged)
    for (const [at, event] of events.entries()) if (event !== undefined) events[at] = withoutTokens(event);
  return isChanged;
};

const withoutTokens = (value: WideJson): WideJson => {
  if (Array.isArray(value)) return (value as readonly WideJson[]).map(withoutTokens);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      name !== 'logprobs' || item === null ? withoutTokens(item) : Array.isArray(item) ? [] : null,
    ]),
  );
};

type JsonLine = { readonly value: WideJson | undefined; readonly text: string; readonly end: string };

/** The lines of a body of which each is a JSON object, the last one perhaps cut off; undefined for any other. */
const linesOfJson = (text: string): readonly JsonLine[] | undefined => {
  const lines = [...text.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/gu)]
    .filter(([whole]) => whole !== '')
    .map(([, line = '', end = '']) => ({
      text: line,
      end,
      value:
        line.trim() === '' ? undefined : (parsed(line) ?? (end === '' ? completedJson(line) : undefined)),
    }));
  const isJson = lines.every(({ text: line, value }) => line.trim() === '' || isJsonObject(value));
  return lines.length > 1 && isJson ? lines : undefined;
};

const redactJsonLines = (walks: BodyWalk, lines: readonly JsonLine[]): string => {
  const values = lines.map(({ value }) => value);
  const isChanged = redactEvents(walks, values);
  return lines
    .map(({ text, end, value: was }, i) => {
      const value = values[i];
      if (value === undefined || was === undefined) return text + end;
      const next = rewritten(walks, text, value);
      // Of a line that is cut off nothing can be written anew.
      if (next !== text && parsed(text) === undefined) return '';
      return isChanged || next !== text ? next + end : text + end;
    })
    .join('');
};

/** The JSON text of an event whose value is `value` now; the text as it came, if that has no secret. */
const rewritten = (walks: BodyWalk, text: string, value: WideJson): string => {
  const done = walks.value(value);
  const was = parsed(text) ?? completedJson(text);
  const isSame = done === value && was !== undefined && canonicalJson(was) === canonicalJson(value);
  // A name that stands twice hides its first value from who reads the text.
  return isSame && walks.text(text) === text ? text : canonicalJson(done);
};

const redactEventStream = (walks: BodyWalk, text: string): string | null => {
  const { lines, events } = readStream(text);
  const values = events.map(({ data, ended }) => parsed(data) ?? (ended ? undefined : completedJson(data)));
  const isChanged = redactEvents(walks, values);
  const next: (StreamLine | null)[] = [...lines];
  const others: string[] = [];
  for (const [
    i,
    {
      lines: [first, ...more],
      data,
      ended,
    },
  ] of events.entries()) {
    const value = values[i];
    if (first === undefined) continue;
    if (value === undefined) {
      others.push(data);
      if (!ended && isChanged) for (const at of [first, ...more]) next[at] = null;
      continue;
    }
    const done = rewritten(walks, data, value);
    if (done === data) continue;
    const isCut = parsed(data) === undefined;
    next[first] = isCut ? null : { ...(lines[more.at(-1) ?? first] as StreamLine), line: `data: ${done}` };
    for (const at of more) next[at] = null;
  }
  // Data that are no JSON are words such as [DONE].
  if (others.some((data) => walks.text(data) !== data) || holdsSecret(walks, others)) return null;
  return dropFields(walks, next);
};

const holdsSecret = (walks: BodyWalk, texts: readonly string[]): boolean => {
  const joined = texts.join('');
  return walks.text(joined) !== joined;
};

/** Names of events as APIs have them: one after the other they could look like anything. */
const NAME = /^[a-z_.]{0,64}$/u;

/** The stream without the comments, ids and unknown fields in which there are secrets; null if it is in the names of events. */
const dropFields = (walks: BodyWalk, lines: readonly (StreamLine | null)[]): string | null => {
  let left = lines.filter((line) => line !== null);
  const others = left.filter(({ field }) => field !== 'data' && field !== '');
  for (const [field, own] of Map.groupBy(others, ({ field: name }) => name)) {
    const values = own.map(({ value }) => value).filter((value) => field !== 'event' || !NAME.test(value));
    const isSecret =
      holdsSecret(walks, [field]) ||
      values.some((value) => holdsSecret(walks, [`${field}: ${value}`])) ||
      holdsSecret(walks, values);
    if (!isSecret) continue;
    if (field === 'event') return null;
    left = left.filter((line) => line.field !== field);
  }
  return printLines(left);
};
