import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { CHAT_ROLES } from '@stemma/model-apis';
import { NAMED_FIELDS } from './fields.ts';
import { addManualBlock, trackCalls } from './manual-blocks.ts';
import type { ChatMessage, RecordedBlock } from './message.ts';

/**
 * The message list of some blocks of the thread: imported blocks give exactly the messages that they came from
 * (context-tree §9), others are combined by role and kind.
 */
export const blocksToMessages = (blocks: readonly RecordedBlock[]): ChatMessage[] => {
  const messages: ChatMessage[] = [];
  const waiting = new Set<string>();
  for (let i = 0; i < blocks.length;) {
    const first = blocks[i] as RecordedBlock;
    const note = noteOf(first);
    if (note === null && isUnseen(first)) {
      i += 1;
      continue;
    }
    if (note === null) {
      addManualBlock(messages, waiting, first, blocks[i - 1]);
      i += 1;
      continue;
    }
    let end = i + 1;
    while (end < blocks.length && blocks[end]?.payload['data_continues'] === note.ordinal) end += 1;
    const message = joinBlocks(note, blocks.slice(i, end));
    trackCalls(waiting, message);
    messages.push(message);
    i = end;
  }
  return messages;
};

/** True for an event of a log that no model was shown: a block without content. */
const isUnseen = ({ payload }: RecordedBlock): boolean =>
  payload['data_event'] !== undefined && payload['content'] === undefined;

type Note = { readonly ordinal: number; readonly content: string; readonly fields: WideJsonObject };

/** The importer's note on the first block of a message; null for a block that was recorded otherwise. */
const noteOf = ({ payload, role }: RecordedBlock): Note | null => {
  const note = payload['data_message'];
  if (!isJsonObject(note) || role === null || !CHAT_ROLES.has(role)) return null;
  const { ordinal, content, fields = {} } = note;
  if (typeof ordinal !== 'number' || typeof content !== 'string' || !isJsonObject(fields)) return null;
  return { ordinal, content, fields };
};

const joinBlocks = (note: Note, blocks: readonly RecordedBlock[]): ChatMessage => {
  const [first] = blocks as readonly [RecordedBlock];
  const message: ChatMessage = { role: first.role, ...note.fields };
  for (const [field, attribute] of Object.entries(NAMED_FIELDS))
    if (first.payload[attribute] !== undefined) message[field] = first.payload[attribute];
  const texts = blocks.filter((block) => block.kind !== 'call');
  const calls = blocks.filter((block) => block.kind === 'call');
  const content = contentOf(note, texts);
  if (content !== undefined) message['content'] = content;
  const tools = calls.filter((block) => block.payload['data_call'] !== 'function_call');
  const old = calls.find((block) => block.payload['data_call'] === 'function_call');
  if (tools.length > 0) message['tool_calls'] = tools.map(({ payload }) => payload['content'] ?? null);
  if (old !== undefined) message['function_call'] = old.payload['content'] ?? null;
  return message;
};

const contentOf = (note: Note, texts: readonly RecordedBlock[]): WideJson | undefined => {
  if (note.content === 'parts') return texts.map(partOf);
  if (note.content === 'null') return null;
  return texts[0]?.payload['content'];
};

const partOf = ({ payload }: RecordedBlock): WideJson => {
  const { content = null, data_part: rest } = payload;
  if (typeof content !== 'string' || rest === 'raw') return content;
  return { ...(isJsonObject(rest) ? rest : { type: 'text' }), text: content };
};
