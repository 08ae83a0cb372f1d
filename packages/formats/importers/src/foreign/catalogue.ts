import { claudeCode } from './claude-code/reader.ts';
import { helicone } from './helicone.ts';
import { langfuse } from './langfuse.ts';
import { langsmith } from './langsmith.ts';
import { litellm } from './litellm.ts';
import { openrouterChat } from './openrouter-chat.ts';
import { openrouter } from './openrouter.ts';
import { otel } from './otel/reader.ts';
import type { ForeignReader } from './reader.ts';

/** Every format of other programs, in the order in which they are asked. */
export const FOREIGN: readonly ForeignReader[] = [
  claudeCode,
  otel,
  langfuse,
  langsmith,
  helicone,
  litellm,
  openrouter,
  openrouterChat,
];
