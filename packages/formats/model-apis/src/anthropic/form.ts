import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { TAKEN_IN_RESULT, type BlockForm, type BlockReader } from '../blocks/block-form.ts';
import { partsOfCall } from '../blocks/write-blocks.ts';
import { hasAny, isList, textOrNull } from '../body.ts';
import { jsonText } from '../json-text.ts';
import { inlineImage, textOfContent, type PartForm } from '../write/content.ts';

/** The names that a tool call has for other things: a block with such a field is kept as a part. */
const TAKEN_IN_CALL = ['function', 'before'];

/** `tool_use` is a tool call, `tool_result` a tool message, any other block a part. */
const readBlock: BlockReader = (block) => {
  const call = callIn(block);
  if (call !== null) return { kind: 'call', call };
  const message = resultIn(block);
  return message === null ? { kind: 'part', part: block } : { kind: 'result', message };
};

const callIn = (block: WideJson): WideJsonObject | null => {
  if (!isJsonObject(block) || block['type'] !== 'tool_use' || hasAny(block, TAKEN_IN_CALL)) return null;
  const { type: _type, id, name, input, ...rest } = block;
  if (typeof id !== 'string' || typeof name !== 'string' || !isJsonObject(input)) return null;
  return { id, type: 'function', function: { name, arguments: jsonText(input) }, ...rest };
};

const resultIn = (block: WideJson): WideJsonObject | null => {
  if (!isJsonObject(block) || block['type'] !== 'tool_result' || hasAny(block, TAKEN_IN_RESULT)) return null;
  const { type: _type, tool_use_id: call, ...rest } = block;
  return typeof call === 'string' ? { role: 'tool', tool_call_id: call, ...rest } : null;
};

const isNote = ({ type }: WideJsonObject): boolean => type === 'thinking' || type === 'redacted_thinking';

const anthropicParts: PartForm = {
  text: (_role, part) => (part['type'] === 'text' ? part : { type: 'text', text: part['text'] ?? '' }),
  image: (part, url) => {
    if (part['type'] === 'image') return part;
    const inline = inlineImage(url);
    const source =
      inline === null
        ? { type: 'url', url }
        : { type: 'base64', media_type: inline.mediaType, data: inline.data };
    return { type: 'image', source };
  },
  isOwnNote: isNote,
  other: (part) =>
    part['type'] === 'refusal' ? { type: 'text', text: textOrNull(part['refusal']) ?? '' } : part,
};

const textBlock = (text: string): WideJsonObject => ({ type: 'text', text });

/** Anthropic's messages. `tool_result` is part of a user message, so there is no role `tool`. */
export const anthropicForm: BlockForm = {
  list: 'messages',
  system: ['system'],
  blocks: 'content',
  assistant: 'assistant',
  roles: { user: 'user', system: 'system', developer: 'developer' },
  mayLackRole: false,
  joinsAssistants: false,
  hasTexts: true,
  openReader: () => readBlock,
  readSystem: (system) => {
    if (typeof system === 'string' || isList(system)) return system;
    throw fail('E_INPUT_SHAPE', 'the system prompt is neither a text nor a list of blocks');
  },
  writeCall: (call) => {
    const { id, name, input, rest } = partsOfCall(call);
    return { type: 'tool_use', id, name, input, ...rest };
  },
  writeResult: ({ name: _name, tool_call_id: call = '', ...rest }, content) => ({
    type: 'tool_result',
    tool_use_id: call,
    ...(content === undefined ? {} : { content }),
    ...rest,
  }),
  textBlock,
  parts: anthropicParts,
  writeSystem: (contents) => {
    if (contents.length <= 1) return contents[0];
    return contents.flatMap((content) => (isList(content) ? content : [textBlock(textOfContent(content))]));
  },
  systemBlocksAt: (_text, at) => at,
  systemOfBlocks: (blocks) => `[${blocks.join(',')}]`,
};
