import { visibleText } from '@stemma/errors';

/** A piece of HTML. Only {@link html} makes one of texts, so every text on a page is escaped. */
export type Html = { readonly html: string };

type Value = string | number | Html | readonly Html[] | null;

/** HTML with its values put in as text, but for those that are HTML themselves. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  html: parts.map((part, i) => (i === 0 ? part : textOf(values[i - 1] ?? null) + part)).join(''),
});

const textOf = (value: Value): string => {
  if (value === null) return '';
  if (typeof value === 'string' || typeof value === 'number') return escape(String(value));
  return 'html' in value ? value.html : value.map((each) => each.html).join('');
};

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A text from outside, safe between tags and between quotes. Hidden characters, which could show it as something else
 * than it is, stand there as their escapes.
 */
const escape = (text: string): string =>
  visibleText(text).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
