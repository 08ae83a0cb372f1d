import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { anthropicMessages } from '@stemma/model-apis';
import { isList, type RequestForm } from '../request-form.ts';

/** Anthropic's messages: `{system, messages, …}`, calls and results among the blocks of a content. */
export const anthropicForm: RequestForm = {
  mapping: 'anthropic-messages@2',
  fields: ['system', 'messages'],
  isBody: ({ system, messages }) =>
    isList(messages) && ((isPrompt(system) && !messages.some(isOfChat)) || holdsTools(messages)),
  isOwnList: (messages) => holdsTools(messages),
  bodyOf: (messages) => ({ messages }),
  messages: ({ system, messages }) => anthropicMessages(system, messages),
};

const isPrompt = (system: WideJson | undefined): boolean => typeof system === 'string' || isList(system);

const holdsTools = (messages: readonly WideJson[]): boolean =>
  messages.some((message) => isJsonObject(message) && contentOf(message).some(isTool)) &&
  !messages.some(isOfChat);

const contentOf = ({ content }: WideJsonObject): readonly WideJson[] => (isList(content) ? content : []);

const isTool = (block: WideJson): boolean =>
  isJsonObject(block) && (block['type'] === 'tool_use' || block['type'] === 'tool_result');

/** True for a message that only the chat API has. */
const isOfChat = (message: WideJson): boolean =>
  isJsonObject(message) &&
  (message['role'] === 'tool' || message['role'] === 'function' || isList(message['tool_calls']));
