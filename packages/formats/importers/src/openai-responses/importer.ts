import { messageListImporter } from '../openai-chat/importer.ts';
import { responsesForm } from './form.ts';

/** Requests of OpenAI's Responses API, as a program sent or saved them. */
export const responsesRequests = messageListImporter(
  'openai-responses',
  'requests of OpenAI’s Responses API: {instructions, input}',
  responsesForm,
);
