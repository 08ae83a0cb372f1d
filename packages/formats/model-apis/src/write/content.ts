import { TEXT_PARTS, THINKING_PARTS } from '../part-kinds.ts';
import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { hasAny, isList, objectOrEmpty, textOrNull } from '../body.ts';

/** How an API takes the parts of a content. */
export type PartForm = {
  /** @param part has a `text` */
  readonly text: (role: string, part: WideJsonObject) => WideJson;
  /** @param url of the image: it may hold its bytes (`data:`) */
  readonly image: (part: WideJsonObject, url: string) => WideJson;
  /** True for what a model of this API noted for itself: only its own API takes it back. */
  readonly isOwnNote: (part: WideJsonObject) => boolean;
  /** A part that the API has in another form; absent: it stays as it stands. */
  readonly other?: (part: WideJsonObject) => WideJson;
};

/** Parts of Bedrock's Converse, which have no type: what a model noted, and marks of its cache. */
const NOTES_WITHOUT_TYPE: readonly string[] = ['reasoningContent', 'cachePoint'];

const isNote = (part: WideJsonObject): boolean =>
  THINKING_PARTS.has(textOrNull(part['type']) ?? '') ||
  (part['type'] === undefined && hasAny(part, NOTES_WITHOUT_TYPE));

/**
 * The parts of a content as an API takes them: texts and images get its form, notes of a model for itself are left out for
 * another API, and any other part is passed on as it stands. A content that is no list stays what it is.
 */
export const contentFor = (form: PartForm, role: string, content: WideJson): WideJson =>
  isList(content)
    ? content.flatMap((part) => {
        const made = partFor(form, role, part);
        return made === null ? [] : [made];
      })
    : content;

const partFor = (form: PartForm, role: string, part: WideJson): WideJson | null => {
  if (typeof part === 'string') return form.text(role, { text: part });
  if (!isJsonObject(part)) return part;
  const type = textOrNull(part['type']) ?? '';
  if (TEXT_PARTS.has(type) && typeof part['text'] === 'string') return form.text(role, part);
  if (isNote(part)) return form.isOwnNote(part) ? (form.other?.(part) ?? part) : null;
  const url = imageUrl(part, type);
  return url === null ? (form.other?.(part) ?? part) : form.image(part, url);
};

/** The address of an image, also one that holds its bytes; null for anything else. */
const imageUrl = (part: WideJsonObject, type: string): string | null => {
  if (type === 'image_url' || type === 'input_image')
    return textOrNull(part['image_url']) ?? textOrNull(objectOrEmpty(part['image_url'])['url']);
  if (type !== 'image') return null;
  const source = objectOrEmpty(part['source']);
  const data = textOrNull(source['data']);
  if (data !== null) return `data:${textOrNull(source['media_type']) ?? 'image/png'};base64,${data}`;
  return textOrNull(source['url']);
};

/** The bytes of an image that its address holds; null: it holds none. */
export const inlineImage = (url: string): { readonly mediaType: string; readonly data: string } | null => {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return inline === null ? null : { mediaType: inline[1] as string, data: inline[2] as string };
};

/** A text part without what only other APIs have in it. */
export const plainText = (part: WideJsonObject): WideJsonObject => {
  if (part['type'] !== 'text') return { type: 'text', text: part['text'] ?? '' };
  const { cache_control: _mark, citations: _citations, ...rest } = part;
  return rest;
};

/** The text of a content: that of its text parts, or of the whole. */
export const textOfContent = (content: WideJson | undefined): string => {
  if (typeof content === 'string') return content;
  if (!isList(content)) return '';
  return content
    .map((part) => (typeof part === 'string' ? part : (textOrNull(objectOrEmpty(part)['text']) ?? '')))
    .join('');
};
