import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { ModelApi } from '../api-of.ts';
import { isList, objectOrEmpty, textOrNull } from '../body.ts';

type WrittenApi = Exclude<ModelApi, 'other'>;

/** What a model noted for itself. Only its own API takes it back. */
const OF_ANTHROPIC: readonly string[] = ['thinking', 'redacted_thinking'];
const OF_RESPONSES: readonly string[] = ['reasoning'];

const TEXTS: readonly string[] = ['text', 'input_text', 'output_text'];

/**
 * The parts of a content as an API takes them: texts and images get its form, notes of a model for itself are left out for
 * another API, and any other part is passed on as it stands. A content that is no list stays what it is.
 */
export const contentFor = (api: WrittenApi, role: string, content: WideJson): WideJson =>
  isList(content)
    ? content.flatMap((part) => {
        const made = partFor(api, role, part);
        return made === null ? [] : [made];
      })
    : content;

const partFor = (api: WrittenApi, role: string, part: WideJson): WideJson | null => {
  if (typeof part === 'string') return textPart(api, role, { text: part });
  if (!isJsonObject(part)) return part;
  const type = textOrNull(part['type']) ?? '';
  if (TEXTS.includes(type) && typeof part['text'] === 'string') return textPart(api, role, part);
  if (OF_ANTHROPIC.includes(type)) return api === 'anthropic.messages' ? part : null;
  if (OF_RESPONSES.includes(type)) return api === 'openai.responses' ? part : null;
  if (type === 'refusal' && api === 'anthropic.messages')
    return { type: 'text', text: textOrNull(part['refusal']) ?? '' };
  const url = imageUrl(part, type);
  return url === null ? part : imagePart(api, part, url);
};

const textPart = (api: WrittenApi, role: string, part: WideJsonObject): WideJsonObject => {
  const { type, text = '' } = part;
  if (api === 'openai.responses') {
    const wanted = role === 'assistant' ? 'output_text' : 'input_text';
    return type === wanted ? part : { type: wanted, text };
  }
  if (type !== 'text') return { type: 'text', text };
  if (api === 'anthropic.messages') return part;
  const { cache_control: _mark, citations: _citations, ...rest } = part;
  return rest;
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

const imagePart = (api: WrittenApi, part: WideJsonObject, url: string): WideJsonObject => {
  const type = part['type'];
  if (api === 'openai.chat') return type === 'image_url' ? part : { type: 'image_url', image_url: { url } };
  if (api === 'openai.responses')
    return type === 'input_image' ? part : { type: 'input_image', image_url: url };
  if (type === 'image') return part;
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  const source =
    inline === null
      ? { type: 'url', url }
      : { type: 'base64', media_type: inline[1] as string, data: inline[2] as string };
  return { type: 'image', source };
};

/** The text of a content: that of its text parts, or of the whole. */
export const textOfContent = (content: WideJson | undefined): string => {
  if (typeof content === 'string') return content;
  if (!isList(content)) return '';
  return content
    .map((part) => (typeof part === 'string' ? part : (textOrNull(objectOrEmpty(part)['text']) ?? '')))
    .join('');
};
