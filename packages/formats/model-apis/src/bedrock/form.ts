import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { TAKEN_IN_RESULT, textBlocksOf, type BlockForm, type BlockReader } from '../blocks/block-form.ts';
import { partsOfCall } from '../blocks/write-blocks.ts';
import { fieldsUnder, hasAny, isList, textOrNull } from '../body.ts';
import { jsonText } from '../json-text.ts';
import { inlineImage, textOfContent, type PartForm } from '../write/content.ts';

/** `{toolUse}` is a tool call, `{toolResult}` a tool message, `{text}` a text; any other block is a part as it stands. */
const readBlock: BlockReader = (block) => {
  if (!isJsonObject(block) || Object.keys(block).length !== 1) return { kind: 'part', part: block };
  const { toolUse, toolResult, text } = block;
  const call = callIn(toolUse);
  if (call !== null) return { kind: 'call', call };
  const message = resultIn(toolResult);
  if (message !== null) return { kind: 'result', message };
  return { kind: 'part', part: typeof text === 'string' ? { type: 'text', text } : block };
};

const callIn = (use: WideJson | undefined): WideJsonObject | null => {
  if (!isJsonObject(use)) return null;
  const { toolUseId: id, name, input, ...rest } = use;
  if (typeof id !== 'string' || typeof name !== 'string' || !isJsonObject(input)) return null;
  return {
    ...{ id, type: 'function', function: { name, arguments: jsonText(input) } },
    ...fieldsUnder('toolUse', rest),
  };
};

/** The names that a tool message has for other things. */
const TAKEN = [...TAKEN_IN_RESULT, 'name'];

const resultIn = (result: WideJson | undefined): WideJsonObject | null => {
  if (!isJsonObject(result) || hasAny(result, TAKEN)) return null;
  const { toolUseId: id, content, ...rest } = result;
  if (typeof id !== 'string' || !isList(content)) return null;
  return { role: 'tool', tool_call_id: id, content: content.map(partOf), ...rest };
};

const partOf = (block: WideJson): WideJson => {
  const read = readBlock(block);
  return read.kind === 'part' ? read.part : block;
};

const bedrockParts: PartForm = {
  text: (_role, part) => ({ text: part['text'] ?? '' }),
  image: (part, url) => {
    const inline = inlineImage(url);
    const format = /^image\/(png|jpeg|gif|webp)$/.exec(inline?.mediaType ?? '')?.[1];
    return inline === null || format === undefined
      ? part
      : { image: { format, source: { bytes: inline.data } } };
  },
  isOwnNote: ({ type }) => type === undefined,
  other: (part) => (part['type'] === 'refusal' ? { text: textOrNull(part['refusal']) ?? '' } : part),
};

/** The messages of Bedrock's Converse: users and assistants take turns. */
export const converseForm: BlockForm = {
  list: 'messages',
  system: ['system'],
  blocks: 'content',
  assistant: 'assistant',
  roles: { user: 'user' },
  mayLackRole: false,
  joinsAssistants: false,
  hasTexts: false,
  openReader: () => readBlock,
  readSystem: (system) => {
    if (!isList(system)) throw fail('E_INPUT_SHAPE', 'the system prompt is not a list of blocks');
    return system.map(partOf);
  },
  writeCall: (call) => {
    const { id, name, input, rest } = partsOfCall(call);
    const { toolUse } = rest;
    return { toolUse: { toolUseId: id, name, input, ...(isJsonObject(toolUse) ? toolUse : {}) } };
  },
  writeResult: ({ name: _name, tool_call_id: call = '', is_error: failed, ...rest }, content) => ({
    toolResult: {
      toolUseId: call,
      content: isList(content) ? content : [{ text: textOfContent(content ?? '') }],
      ...(failed === true ? { status: 'error' } : {}),
      ...Object.fromEntries(Object.entries(rest).filter(([field]) => OF_RESULT.includes(field))),
    },
  }),
  textBlock: (text) => ({ text }),
  parts: bedrockParts,
  writeSystem: (contents) => {
    const blocks = textBlocksOf(contents);
    return blocks.length === 0 ? undefined : blocks;
  },
  systemBlocksAt: (_text, at) => at,
  systemOfBlocks: (blocks) => `[${blocks.join(',')}]`,
};

/** What a result has besides its content. */
const OF_RESULT = ['status', 'type'];
