import {
  canonicalJson,
  listOf,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import { visibleText } from '@stemma/errors';
import { isFailedResult, wireOrder } from '@stemma/model-apis';
import { styleText } from 'node:util';
import { contentWords } from './excerpts.ts';

type Style = Parameters<typeof styleText>[0];

const ROLE_STYLES: Readonly<Record<string, Style>> = {
  system: ['bold', 'magenta'],
  developer: ['bold', 'magenta'],
  user: ['bold', 'green'],
  assistant: ['bold', 'cyan'],
  tool: ['bold', 'yellow'],
  function: ['bold', 'yellow'],
};

/** Where a text goes and how: `colours` for a terminal that shows them. */
export type ThreadStyle = { readonly colours: boolean };

/**
 * A message list as people read it: a heading for each message, its text, calls of tools with their arguments unfolded. Every
 * hidden character is visible, so the result may be written as it is.
 */
export const readableThread = (messages: readonly WideJson[], { colours }: ThreadStyle): string => {
  const paint = (style: Style, text: string): string =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const heading = (index: number, role: string, about: string): string =>
    `${paint(ROLE_STYLES[role] ?? 'bold', `── ${index + 1} ${visibleText(role)}`)}${about === '' ? '' : ` ${paint('dim', visibleText(about))}`}\n`;
  return messages
    .map((message, index) => {
      if (!isJsonObject(message)) return `${heading(index, 'message', '')}${block(canonicalJson(message))}`;
      const { role, content, tool_calls: calls } = message;
      const texts = textsOf(content);
      const pieces = wireOrder(message).map(({ what, index: at }) => {
        if (what === 'call') return callText(listOf(calls)[at] ?? null, paint);
        const text = texts[at];
        return text === undefined ? '' : block(text);
      });
      return [heading(index, typeof role === 'string' ? role : 'message', aboutOf(message)), ...pieces].join(
        '',
      );
    })
    .join('\n');
};

/** What a heading says beside the role: whose answer it is, its name, and whether the tool failed. */
const aboutOf = (message: WideJsonObject): string => {
  const { name, tool_call_id: call } = message;
  return [name, call, isFailedResult(message) ? 'failed' : null]
    .filter((each) => typeof each === 'string')
    .join('  ');
};

/** The texts of a content: itself, or its parts; a JSON text is unfolded. */
const textsOf = (content: WideJson | undefined): readonly string[] => {
  if (content === undefined || content === null || content === '') return [];
  if (!Array.isArray(content)) return [unfolded(contentWords(content))];
  return (content as readonly WideJson[]).map((part) => unfolded(contentWords(part)));
};

const callText = (call: WideJson, paint: (style: Style, text: string) => string): string => {
  const called = isJsonObject(call) ? call['function'] : undefined;
  if (!isJsonObject(called)) return block(canonicalJson(call));
  const { name, arguments: given = '' } = called;
  const id = isJsonObject(call) && typeof call['id'] === 'string' ? call['id'] : '';
  const head = `→ ${typeof name === 'string' ? name : 'unknown'}`;
  const args = unfolded(typeof given === 'string' ? given : canonicalJson(given));
  return `  ${paint('cyan', visibleText(head))}${id === '' ? '' : `  ${paint('dim', visibleText(id))}`}\n${args === '{}' ? '' : block(args, '      ')}`;
};

/** Longer JSON texts are left as they are. */
const MOST_UNFOLDED = 100_000;

/** A text that is a JSON object or list, with a line for each member; any other text, and large integers, as they are. */
const unfolded = (text: string): string => {
  if (!/^\s*[[{]/.test(text) || text.length > MOST_UNFOLDED) return text;
  try {
    return JSON.stringify(parseWideJson(text, 'the text'), null, 2);
  } catch {
    return text;
  }
};

/** Lines of a text, indented: none of them can be taken for a heading. */
const block = (text: string, indent = '  '): string =>
  `${visibleText(text)
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => (line === '' ? '' : indent + line))
    .join('\n')}\n`;
