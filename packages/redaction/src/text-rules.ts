import { fail } from '@stemma/errors';
import { PRIVATE_KEY_SPAN, SECRET_SPANS } from '@stemma/stages';
import { RE2JS } from 're2js';
import type { ReadRedactionConfig } from './config.ts';
import { holdsOnlyPlaceholders } from './placeholder.ts';

/** A secret in a text, by UTF-16 units, and the rule that found it. */
export type Span = { readonly start: number; readonly end: number; readonly rule: string };

/** Finds secrets in a text. The time grows with the length of the text, whatever the patterns are. */
export type TextRule = (text: string) => readonly Span[];

/** @throws E_REDACTION_INVALID for a pattern that is none */
export const textRules = ({ kinds, patterns, headers }: ReadRedactionConfig): readonly TextRule[] => {
  const rules = [
    ...[...SECRET_SPANS, PRIVATE_KEY_SPAN]
      .filter(({ kind }) => kinds === 'all' || kinds.includes(kind))
      .map(({ kind, pattern }) => builtIn(kind, pattern)),
    ...headers.map(headerLine),
    ...patterns.map(({ name, pattern }) => own(name, pattern)),
  ];
  return [...rules, inBase64(rules)];
};

/** Texts in base64 that hold a secret: all of such a text, as a file that was attached. */
const inBase64 =
  (rules: readonly TextRule[]): TextRule =>
  (text) => {
    const spans: Span[] = [];
    for (const { 0: coded, index } of text.matchAll(/[A-Za-z0-9+/_-]{24,}={0,2}/gu)) {
      const plain = textInBase64(coded);
      const found = plain === undefined ? undefined : disjointSpans(plain, rules)[0];
      if (found !== undefined) spans.push({ start: index, end: index + coded.length, rule: found.rule });
    }
    return spans;
  };

/** The text that base64 says; undefined for anything else, such as a picture or a word. */
const textInBase64 = (coded: string): string | undefined => {
  try {
    // What is cut off in the middle of a character is a text all the same.
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(coded, 'base64'), { stream: true });
  } catch {
    return undefined;
  }
};

const builtIn =
  (rule: string, pattern: RegExp): TextRule =>
  (text) => {
    const spans: Span[] = [];
    for (const { indices } of text.matchAll(pattern)) {
      const [start, end] = indices?.[1] ?? [0, 0];
      if (end > start) spans.push({ start, end, rule });
    }
    return spans;
  };

/** The rest of a line behind `Name:`, or the quoted text behind `"name":`. */
const headerLine = (name: string): TextRule => {
  const quoted = RE2JS.quote(name);
  return own(
    ruleOfHeader(name),
    `(?im)(?:^|[^A-Za-z0-9_-])${quoted}\\\\*["']?[ \\t]*[:=][ \\t]*\\\\*["']?([^"'\\\\\\r\\n]+)`,
  );
};

/** The name of a header as the name of a rule. */
export const ruleOfHeader = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]/gu, '_')
    .slice(0, 64);

const own = (rule: string, pattern: string): TextRule => {
  const compiled = compile(rule, pattern);
  const group = compiled.groupCount() > 0 ? 1 : 0;
  return (text) => {
    const spans: Span[] = [];
    const matcher = compiled.matcher(text);
    while (matcher.find()) {
      const start = matcher.start(group);
      const end = matcher.end(group);
      if (end > start) spans.push({ start, end, rule });
    }
    return spans;
  };
};

const compile = (rule: string, pattern: string): RE2JS => {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw fail(
      'E_REDACTION_INVALID',
      `the pattern ${rule} is none that RE2 has: ${error instanceof Error ? error.message.slice(0, 200) : 'it cannot be read'}`,
    );
  }
};

/** The spans without overlaps, in order: overlapping ones become one, with the rule of the longest. */
export const disjointSpans = (text: string, rules: readonly TextRule[]): readonly Span[] => {
  const spans = rules
    .flatMap((rule) => rule(text))
    .filter(({ start, end }) => !holdsOnlyPlaceholders(text.slice(start, end)))
    .sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: { start: number; end: number; rule: string; longest: number }[] = [];
  for (const { start, end, rule } of spans) {
    const last = merged.at(-1);
    if (last === undefined || start >= last.end) {
      merged.push({ start, end, rule, longest: end - start });
      continue;
    }
    last.end = Math.max(last.end, end);
    if (end - start > last.longest) Object.assign(last, { rule, longest: end - start });
  }
  return merged;
};
