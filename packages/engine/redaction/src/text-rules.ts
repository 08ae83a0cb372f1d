import { fail } from '@stemma/errors';
import { PRIVATE_KEY_SPAN, SECRET_SPANS } from '@stemma/stages';
import { RE2JS } from 're2js';
import type { ReadRedactionConfig } from './config.ts';
import { codedRules } from './coded-texts.ts';
import { holdsOnlyPlaceholders } from './placeholder.ts';
import type { Span, TextRule } from './text-rule.ts';

/** @throws E_REDACTION_INVALID for a pattern that is none */
export const textRules = ({ kinds, patterns, headers }: ReadRedactionConfig): readonly TextRule[] => {
  const rules = [
    ...[...SECRET_SPANS, PRIVATE_KEY_SPAN]
      .filter(({ kind }) => kinds === 'all' || kinds.includes(kind))
      .map(({ kind, pattern }) => builtIn(kind, pattern)),
    ...headers.map(headerLine),
    ...patterns.map(({ name, pattern }) => own(name, pattern)),
  ];
  return [...rules, ...codedRules((text) => disjointSpans(text, rules))];
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
