/** The language-model APIs whose bodies this package reads. */
export const READ_APIS = [
  'openai.chat',
  'openai.responses',
  'anthropic.messages',
  'gemini.generate',
  'ollama.chat',
  'ollama.generate',
  'cohere.chat',
  'bedrock.converse',
  'bedrock.invoke',
] as const;
export type ReadApi = (typeof READ_APIS)[number];

/** A language-model API whose bodies this package reads, or `other`. */
export type ModelApi = ReadApi | 'other';
