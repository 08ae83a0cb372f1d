import { aiSdk } from './ai-sdk.ts';
import { aider } from './aider.ts';
import { atif } from './atif.ts';
import { claudeCode } from './claude-code/reader.ts';
import { cline } from './cline.ts';
import { codex } from './codex/reader.ts';
import { copilotCli } from './copilot-cli.ts';
import { geminiCli } from './gemini-cli.ts';
import { har, polly } from './har.ts';
import { helicone } from './helicone.ts';
import { inspect } from './inspect/reader.ts';
import { langchain } from './langchain.ts';
import { langgraph } from './langgraph/reader.ts';
import { langfuse } from './langfuse.ts';
import { langsmith } from './langsmith.ts';
import { letta } from './letta.ts';
import { litellm } from './litellm.ts';
import { miniSweAgent } from './mini-swe-agent.ts';
import { openaiAgents } from './openai-agents.ts';
import { openrouterChat } from './openrouter-chat.ts';
import { openrouter } from './openrouter.ts';
import { otel } from './otel/reader.ts';
import { pydanticAi } from './pydantic-ai.ts';
import type { ForeignReader } from './reader.ts';
import { shareGpt } from './sharegpt.ts';
import { sweAgent } from './swe-agent.ts';
import { vcr } from './vcr.ts';

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
  vcr,
  har,
  polly,
  geminiCli,
  pydanticAi,
  letta,
  langchain,
  langgraph,
  openaiAgents,
  copilotCli,
  cline,
  aider,
  aiSdk,
  shareGpt,
];
