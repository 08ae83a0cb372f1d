import { messageListImporter } from '../openai-chat/importer.ts';
import { geminiForm } from './form.ts';

/** Requests of Gemini's API, as a program sent or saved them. */
export const geminiRequests = messageListImporter(
  'gemini',
  'requests of Gemini’s API: {systemInstruction, contents}',
  geminiForm,
);
