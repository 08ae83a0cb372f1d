import { canonicalJson, sha256Hex, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import type { Command, Redaction } from '@stemma/history';
import { createHmac } from 'node:crypto';
import { redactBody } from './body/redact-body.ts';
import { readRedactionConfig, type ReadRedactionConfig, type RedactionConfig } from './config.ts';
import { redactSubtree } from './redact-node.ts';
import { redactCommand } from './redact-steps.ts';
import { redactText, redactValue, type KeyRule, type Leaf, type Rules, type Walk } from './redact-value.ts';
import { newTally } from './tally.ts';
import { disjointSpans, ruleOfHeader, textRules } from './text-rules.ts';

/**
 * A rule of the user's own: what is recorded instead of a text. It is given texts in which the other rules have
 * replaced what they know. The same text must always give the same answer: a command that is sent again would be
 * another command.
 */
export type RedactFunction = (
  text: string,
  where: { readonly field: string; readonly path: readonly string[] },
) => string | Promise<string>;

export type RedactorOptions = RedactionConfig & {
  readonly function?: RedactFunction;
  /** For `labels`: at least 16 bytes that only this home has. */
  readonly labelKey?: Uint8Array;
};

/** Nodes with their secrets replaced; `node` of a redaction is the index of its node. */
export type RedactedNodes = {
  readonly nodes: readonly WideJsonObject[];
  readonly redactions: readonly Redaction[];
};

/** Takes secrets out of what is to be recorded. What was redacted before stays as it is. */
export type Redactor = {
  /**
   * The command with its secrets replaced and a list of them added; the same command if it has none.
   *
   * @throws E_REDACTION_REFUSED for a secret in a name or an id, E_REDACTION_FAILED if the user's function fails
   */
  command(command: Command): Promise<Command>;
  /** Nodes as an insertion gives them. @throws as `command` */
  nodes(nodes: readonly WideJsonObject[]): Promise<RedactedNodes>;
  /** A sentence about an input, such as the message of an error: rules of texts only. */
  text(text: string): string;
  /**
   * A body of a request or an answer, also one that is a stream of events, over which a secret may be cut; null if nobody can
   * rewrite it surely.
   */
  body(text: string): string | null;
  /** A value as {@link Redactor.command} records it, but for what pointers and the user's function take out. */
  value(value: WideJson): WideJson;
  /** Whether `text` takes out all that the rules are about: not if they have pointers or a function. */
  readonly coversTexts: boolean;
};

/** @throws E_REDACTION_INVALID for rules that cannot be read */
export const openRedactor = ({ function: own, labelKey, ...config }: RedactorOptions): Redactor => {
  const rules = rulesOf(readRedactionConfig(config), labelKey);
  // An agent sends the whole list again with each call.
  const clean = new Set<string>();

  /** What `walk` gives. With a function of the user's, it is walked once to find the texts for it. */
  const run = async <T>(
    walk: (walk: Walk) => T,
  ): Promise<{ readonly done: T; readonly redactions: readonly Redaction[] }> => {
    const answers = new Map<string, string>();
    if (own !== undefined) {
      const texts = new Map<string, Parameters<Leaf>>();
      const note: Leaf = (text, location, path) => {
        texts.set(keyOf(text, path), [text, location, path]);
        return text;
      };
      walk({ rules, leaf: note, tally: newTally() });
      for (const [key, [text, { field }, path]] of texts)
        answers.set(key, await ask(own, text, { field, path }));
    }
    const tally = newTally();
    const leaf: Leaf = (text, location, path) => {
      const answer = answers.get(keyOf(text, path)) ?? text;
      if (answer !== text) tally.add(location, 'function');
      return answer;
    };
    return { done: walk({ rules, leaf, tally }), redactions: tally.entries() };
  };

  /** A walk that nobody counts. */
  const silently = (): Walk => ({ rules, leaf: (same) => same, tally: newTally() });

  return {
    command: async (command) => {
      const { done, redactions } = await run((walk) => redactCommand(walk, command));
      if (redactions.length === 0) return command;
      return { ...done, redactions: [...(command.redactions ?? []), ...redactions] };
    },
    nodes: async (nodes) => {
      const known = own === undefined ? sha256Hex(canonicalJson(nodes)) : null;
      if (known !== null && clean.has(known)) return { nodes, redactions: [] };
      const { done, redactions } = await run((walk) => {
        let node = 0;
        return nodes.map((each) => redactSubtree(walk, each, () => ({ step: null, node: node++ })));
      });
      if (known !== null && redactions.length === 0) noteClean(clean, known);
      return { nodes: done, redactions };
    },
    text: (text) => redactText(silently(), text, NOWHERE),
    body: (text) => redactBody(silently(), text),
    value: (value) => redactValue(silently(), value, NOWHERE, []),
    coversTexts: own === undefined && rules.pointers.length === 0,
  };
};

/** What {@link Redactor.body} takes out of a body with the rules for all kinds of keys: the kinds. */
export const secretsInBody = (text: string): readonly string[] =>
  kindsFound((walk) => redactBody(walk, text));

/** What {@link Redactor.text} takes out of a text with the rules for all kinds of keys: the kinds. */
export const secretsInText = (text: string): readonly string[] =>
  kindsFound((walk) => redactText(walk, text, NOWHERE));

const kindsFound = (redact: (walk: Walk) => unknown): readonly string[] => {
  const tally = newTally();
  redact({ rules: (allKinds ??= rulesOf(readRedactionConfig({}), undefined)), leaf: (same) => same, tally });
  return [...new Set(tally.entries().map(({ rule }) => rule))];
};

let allKinds: Rules | undefined;

const NOWHERE = { step: null, node: null, field: '' };
const MAX_CLEAN = 50_000;

const noteClean = (clean: Set<string>, hash: string): void => {
  if (clean.size >= MAX_CLEAN) clean.clear();
  clean.add(hash);
};

const keyOf = (text: string, path: readonly string[]): string => JSON.stringify([path, text]);

/** @throws E_REDACTION_FAILED, which says nothing of what the function said: that may be the secret */
const ask = async (
  own: RedactFunction,
  text: string,
  where: Parameters<RedactFunction>[1],
): Promise<string> => {
  let answer: unknown;
  try {
    answer = await own(text, where);
  } catch (error) {
    if (isStemmaError(error, 'E_CANCELLED')) throw error;
    throw fail('E_REDACTION_FAILED', `the function that redacts failed on ${where.field}`);
  }
  if (typeof answer === 'string') return answer;
  throw fail('E_REDACTION_FAILED', `the function that redacts gave no text for ${where.field}`);
};

/** What the value of a telling name is, to find out which names are telling. */
const PROBE = 'x9x9x9x9x9x9x9x9x9x9';
const MAX_KEYS = 10_000;

const rulesOf = (config: ReadRedactionConfig, labelKey: Uint8Array | undefined): Rules => {
  const texts = textRules(config);
  // Only these know a secret by the name before it; a pattern of the user's might match any value.
  const forms = textRules({ ...config, patterns: [], headers: [] });
  const headers = new Map(config.headers.map((name) => [name.toLowerCase(), ruleOfHeader(name)]));
  const known = new Map<string, KeyRule | null>();
  const ruleOfKey = (key: string): KeyRule | null => {
    const header = headers.get(key.toLowerCase());
    if (header !== undefined) return { rule: header, deep: true };
    if (key.length > 128) return null;
    const found = disjointSpans(`${key}: ${PROBE}`, forms).find(({ start }) => start === key.length + 2);
    return found === undefined ? null : { rule: found.rule, deep: false };
  };
  if (config.labels && (labelKey === undefined || labelKey.length < 16))
    throw fail('E_REDACTION_INVALID', 'labels need a key of at least 16 bytes');
  return {
    texts,
    numbers: config.patterns.length > 0,
    pointers: config.fields.map((field) => {
      const path = field
        .slice(1)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
      const named = path.findLast((part) => part !== '*') ?? 'field';
      return [ruleOfHeader(named), path];
    }),
    ruleOfKey: (key) => {
      const cached = known.get(key);
      if (cached !== undefined) return cached;
      const rule = ruleOfKey(key);
      if (known.size >= MAX_KEYS) known.clear();
      known.set(key, rule);
      return rule;
    },
    labelOf: (secret) =>
      config.labels && labelKey !== undefined
        ? createHmac('sha256', labelKey).update(secret).digest('hex').slice(0, 12)
        : null,
  };
};
