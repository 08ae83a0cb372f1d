import { messageListImporter } from '../openai-chat/importer.ts';
import { anthropicForm } from './form.ts';

/** Requests of Anthropic's API, as a program sent or saved them. */
export const anthropicRequests = messageListImporter(
  'anthropic-messages',
  'requests of Anthropic’s API: {system, messages}',
  anthropicForm,
);
