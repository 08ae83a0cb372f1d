import { anthropicMessagesFormat } from './anthropic/format.ts';
import type { ApiFormat } from './api-format.ts';
import type { ReadApi } from './api-names.ts';
import { bedrockConverseFormat, bedrockInvokeFormat } from './bedrock/format.ts';
import { openaiChatFormat } from './chat/format.ts';
import { cohereChatFormat } from './cohere/format.ts';
import { geminiGenerateFormat } from './gemini/format.ts';
import { ollamaChatFormat, ollamaGenerateFormat } from './ollama/format.ts';
import { openaiResponsesFormat } from './responses/format.ts';

/** The APIs whose requests and answers are read, each by the record of its folder. */
const API_FORMATS: { readonly [api in ReadApi]: ApiFormat } = {
  'openai.chat': openaiChatFormat,
  'openai.responses': openaiResponsesFormat,
  'anthropic.messages': anthropicMessagesFormat,
  'gemini.generate': geminiGenerateFormat,
  'ollama.chat': ollamaChatFormat,
  'ollama.generate': ollamaGenerateFormat,
  'cohere.chat': cohereChatFormat,
  'bedrock.converse': bedrockConverseFormat,
  'bedrock.invoke': bedrockInvokeFormat,
};

export const formatOf = (api: ReadApi): ApiFormat => API_FORMATS[api];
