import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';

/** The object; an empty one for anything else. */
export const objectOf = (value: WideJson | undefined): WideJsonObject => (isJsonObject(value) ? value : {});

/** The list; an empty one for anything else. */
export const listOf = (value: WideJson | undefined): readonly WideJson[] =>
  Array.isArray(value) ? (value as readonly WideJson[]) : [];

export const textOf = (value: WideJson | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The parts of a content: a text is one. */
export const partsOf = (content: WideJson | undefined): readonly WideJsonObject[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return listOf(content).map((part) =>
    typeof part === 'string'
      ? { type: 'text', text: part }
      : isJsonObject(part)
        ? part
        : { type: 'json', value: part },
  );
};

/** `2026-09-01T10:00:00.000Z`; undefined where nobody says when. */
export const isoTime = (at: number | null): string | undefined =>
  at === null ? undefined : new Date(at).toISOString();

const THINKING: ReadonlySet<string> = new Set(['thinking', 'thought', 'redacted_thinking', 'reasoning']);
const IMAGES: ReadonlySet<string> = new Set(['image', 'image_url', 'input_image']);
const TEXTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);

/** What a part is: `text`, `thinking`, `image`, else its own type. */
export const kindOfPart = ({ type, reasoningContent }: WideJsonObject): string => {
  const name = textOf(type) ?? (reasoningContent === undefined ? 'part without a type' : 'thinking');
  if (TEXTS.has(name)) return 'text';
  if (THINKING.has(name)) return 'thinking';
  return IMAGES.has(name) ? 'image' : name;
};

/** The text of thinking; undefined: it has none that people read. */
export const thinkingText = (part: WideJsonObject): string | undefined =>
  textOf(part['thinking']) ??
  (part['type'] === 'redacted_thinking' ? undefined : (textOf(part['text']) ?? textOf(part['reasoning'])));
