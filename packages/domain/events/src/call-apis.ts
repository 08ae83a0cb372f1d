/** The language-model APIs whose bodies are read. */
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

/** What a model was asked in: an API whose bodies are read, or `other`. */
export const CALL_APIS = [...READ_APIS, 'other'] as const;
export type CallApi = (typeof CALL_APIS)[number];
