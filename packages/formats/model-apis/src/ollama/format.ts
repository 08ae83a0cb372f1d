import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { ApiFormat } from '../api-format.ts';
import { withToolNames } from '../blocks/write-blocks.ts';
import { objectOrEmpty, textOrNull } from '../body.ts';
import { itemLocations, spliceItems } from '../splicing/splice-items.ts';
import { fieldBefore, fieldsOfBody, spliced, withoutField, type Splice } from '../splicing/splice.ts';
import { fieldNamed } from '../splicing/text-spans.ts';
import type { MessageLocation, OutgoingMessage } from '../splicing/outgoing.ts';
import { textOfContent } from '../write/content.ts';
import { chatAnswers, completionAnswers, ollamaBlock } from './answer.ts';
import { ollamaItem, ollamaMessages } from './messages.ts';
import { ollamaChatWriter, ollamaCompletionWriter } from './write-answer.ts';

/** What both of Ollama's APIs have in common. */
const common = {
  streamsUnlessSaid: true,
  openStreamBlocks: () => ollamaBlock,
  framing: 'lines',
  parameters: {
    within: 'options',
    limit: ['num_predict'],
    temperature: 'temperature',
    topP: 'top_p',
    stop: 'stop',
    isStopList: true,
  },
  toolForm: {
    tool: ({ schema, ...said }) => ({ type: 'function', function: { ...said, parameters: schema } }),
    choice: () => null,
  },
  errorBody: ({ message }) => ({ error: message }),
} as const satisfies Partial<ApiFormat>;

/** `POST /api/chat` of Ollama: one JSON value, or one a line. */
export const ollamaChatFormat: ApiFormat = {
  ...common,
  mapping: 'ollama.chat@1',
  isPath: (path) => path.endsWith('/api/chat'),
  fields: ['messages'],
  messages: ({ messages }) => ollamaMessages(messages),
  list: {
    items: 'messages',
    system: [],
    ofSystem: () => [],
    ofItems: (items) => ollamaMessages(items),
    begins: (item) => objectOrEmpty(item)['role'] !== 'tool',
  },
  namesKept: [],
  ...chatAnswers,
  writeMessages: (messages) => ({ messages: withToolNames(messages).map(ollamaItem) }),
  locations: (body) => itemLocations(body, 'messages'),
  splice: (text, _locations, messages) => spliceItems(text, 'messages', messages, ollamaItem),
  writer: ollamaChatWriter,
  client: { mind: 'ollama', path: () => '/api/chat', tail: /\/api\/chat\/?$/ },
};

/** `POST /api/generate` of Ollama: a prompt, which is one message of the user. */
export const ollamaGenerateFormat: ApiFormat = {
  ...common,
  mapping: 'ollama.generate@1',
  isPath: (path) => path.endsWith('/api/generate'),
  fields: ['system', 'prompt', 'images'],
  messages: ({ system, prompt, images }) => promptMessages(system, prompt, images),
  list: null,
  // The tokens of the conversation before, as an earlier answer gave them.
  namesKept: ['context'],
  ...completionAnswers,
  writeMessages: (messages) => promptOf(messages),
  locations: ({ system }) => [...(isSaid(system) ? [location('system')] : []), location('list')],
  splice: splicePrompt,
  writer: ollamaCompletionWriter,
  client: { mind: 'ollama.generate', path: () => '/api/generate', tail: /\/api\/generate\/?$/ },
};

const location = (field: MessageLocation['field']): MessageLocation => ({ field, items: null, blocks: null });

/** An empty system prompt is none. */
const isSaid = (system: WideJson | undefined): boolean =>
  system !== undefined && system !== null && system !== '';

/** A request without a prompt loads its model, and says nothing: it is no call. */
const promptMessages = (
  system: WideJson | undefined,
  prompt: WideJson | undefined,
  images: WideJson | undefined,
): WideJsonObject[] => {
  if (typeof prompt !== 'string') throw fail('E_INPUT_SHAPE', 'the request has no prompt');
  if (isSaid(system) && typeof system !== 'string')
    throw fail('E_INPUT_SHAPE', 'the system prompt is not a text');
  return [
    ...(isSaid(system) ? [{ role: 'system', content: system as string }] : []),
    { role: 'user', content: prompt, ...(images === undefined ? {} : { images }) },
  ];
};

const NO_PLACE =
  'a prompt of Ollama is one message of the user and one of the system: name the mind as ollama:MODEL, which takes a conversation';

const promptOf = (messages: readonly WideJsonObject[]): WideJsonObject => {
  const last = messages.at(-1);
  const system = messages.slice(0, -1);
  if (last?.['role'] !== 'user' || system.some(({ role }) => role !== 'system' && role !== 'developer'))
    throw fail('E_INPUT_SHAPE', NO_PLACE);
  const { content, images } = ollamaItem(last);
  const texts = system.map((message) => textOfContent(message['content'] ?? ''));
  return {
    ...(texts.length === 0 ? {} : { system: texts.join('\n\n') }),
    prompt: textOrNull(content) ?? '',
    ...(images === undefined ? {} : { images }),
  };
};

function splicePrompt(
  text: string,
  locations: readonly MessageLocation[],
  messages: readonly OutgoingMessage[],
): string {
  const fields = fieldsOfBody(text);
  const [system, prompt] = [fieldNamed(fields, 'system'), fieldNamed(fields, 'prompt')];
  const body = JSON.parse(text) as { readonly system?: string; readonly prompt: string };
  const isSystem = (message: OutgoingMessage): boolean =>
    'write' in message ? message.system : locations[message.keep]?.field === 'system';
  const last = messages.at(-1);
  const before = messages.slice(0, -1);
  if (prompt === undefined || last === undefined || isSystem(last) || !before.every(isSystem))
    throw fail('E_INPUT_SHAPE', NO_PLACE);
  const splices: Splice[] = [];
  if ('write' in last) {
    if (last.write['role'] !== 'user') throw fail('E_INPUT_SHAPE', NO_PLACE);
    const said = textOrNull(promptOf([last.write])['prompt']) ?? '';
    splices.push({ span: prompt.value, text: JSON.stringify(said) });
  }
  const said = before.map((each) =>
    'write' in each ? textOfContent(each.write['content'] ?? '') : (body.system ?? ''),
  );
  const [only] = before;
  const isKept = before.length === 1 && only !== undefined && 'keep' in only;
  if (said.length === 0 && system !== undefined) splices.push(withoutField(fields, system));
  else if (said.length > 0 && !isKept) {
    const value = JSON.stringify(said.join('\n\n'));
    splices.push(
      system === undefined ? fieldBefore(prompt, 'system', value) : { span: system.value, text: value },
    );
  }
  return spliced(text, splices);
}
