import { isJsonObject, listOf, textOf, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { IMAGE_PARTS, TEXT_PARTS, THINKING_PARTS } from '@stemma/model-apis';

export { listOf, objectOf, textOf } from '@stemma/canonical';

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

/** What a part is: `text`, `thinking`, `image`, else its own type. */
export const kindOfPart = ({ type, reasoningContent }: WideJsonObject): string => {
  const name = textOf(type) ?? (reasoningContent === undefined ? 'part without a type' : 'thinking');
  if (TEXT_PARTS.has(name)) return 'text';
  if (THINKING_PARTS.has(name)) return 'thinking';
  return IMAGE_PARTS.has(name) ? 'image' : name;
};

/** The text of thinking; undefined: it has none that people read. */
export const thinkingText = (part: WideJsonObject): string | undefined =>
  textOf(part['thinking']) ??
  (part['type'] === 'redacted_thinking' ? undefined : (textOf(part['text']) ?? textOf(part['reasoning'])));
