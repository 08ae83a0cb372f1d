import { atif } from './atif.ts';
import { claudeCode } from './claude-code/reader.ts';
import { codex } from './codex/reader.ts';
import { helicone } from './helicone.ts';
import { inspect } from './inspect/reader.ts';
import { langfuse } from './langfuse.ts';
import { langsmith } from './langsmith.ts';
import { litellm } from './litellm.ts';
import { miniSweAgent } from './mini-swe-agent.ts';
import { openrouterChat } from './openrouter-chat.ts';
import { openrouter } from './openrouter.ts';
import { otel } from './otel/reader.ts';
import type { ForeignReader } from './reader.ts';
import { sweAgent } from './swe-agent.ts';

/** Every format of other programs, in the order in which they are asked. */
export const FOREIGN: readonly ForeignReader[] = [
  claudeCode,
  codex,
  inspect,
  atif,
  sweAgent,
  miniSweAgent,
  otel,
  langfuse,
  langsmith,
  helicone,
  litellm,
  openrouter,
  openrouterChat,
];
