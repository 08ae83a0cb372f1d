import { textIn, wordIn } from '../loose-values.ts';
import type { Attributes } from './attributes.ts';
import type { TraceSpan } from './span.ts';

/** What a span stands for, as far as it matters: `model` is a call of a model, all others are counted by this name. */
export type SpanKind = 'model' | 'agent' | 'tool' | 'embedding' | 'other';

/** What the GenAI conventions call an operation. */
const OPERATIONS: Readonly<Record<string, SpanKind>> = {
  chat: 'model',
  completion: 'model',
  text_completion: 'model',
  generate_content: 'model',
  responses: 'model',
  message: 'model',
  messages: 'model',
  embeddings: 'embedding',
  execute_tool: 'tool',
  create_agent: 'agent',
  invoke_agent: 'agent',
  invoke_workflow: 'agent',
};

/** What OpenInference calls a kind of span. */
const OPEN_INFERENCE: ReadonlyMap<string, SpanKind> = new Map([
  ['LLM', 'model'],
  ['AGENT', 'agent'],
  ['CHAIN', 'agent'],
  ['TOOL', 'tool'],
  ['EMBEDDING', 'embedding'],
]);

/** The AI SDK's spans of one call; those above them (`ai.generateText`) repeat its messages and tokens. */
const AI_SDK_CALL = /^ai\.(generate|stream)(Text|Object)\.do(Generate|Stream)\b/;

/**
 * What the span stands for, by what it says itself: the kind of OpenInference, the operation of the AI SDK, of the GenAI
 * conventions, the type of OpenLLMetry; last by what only a call has: a model and messages or tokens.
 */
export const kindOf = (attributes: Attributes, span: TraceSpan): SpanKind => {
  const declared = wordIn(attributes.get('openinference.span.kind'))?.toUpperCase();
  if (declared !== undefined && declared !== 'UNKNOWN') return OPEN_INFERENCE.get(declared) ?? 'other';
  const sdk = textIn(attributes.get('ai.operationId')) ?? (/^ai\.[a-z]/.test(span.name) ? span.name : null);
  if (sdk !== null) return AI_SDK_CALL.test(sdk) ? 'model' : ofSdk(sdk);
  const operation = wordIn(attributes.get('gen_ai.operation.name'))?.toLowerCase();
  if (operation !== undefined)
    return Object.hasOwn(OPERATIONS, operation) ? (OPERATIONS[operation] ?? 'other') : 'other';
  const observed = wordIn(attributes.get('langfuse.observation.type'));
  if (observed !== null) return observed === 'generation' ? 'model' : 'other';
  if (attributes.get('traceloop.span.kind') !== undefined) return ofTraceloop(attributes);
  const asked = wordIn(attributes.get('llm.request.type'));
  if (asked !== null) return asked === 'chat' || asked === 'completion' ? 'model' : 'embedding';
  return isCallByContent(attributes) ? 'model' : 'other';
};

const ofSdk = (operation: string): SpanKind =>
  operation.startsWith('ai.toolCall') ? 'tool' : operation.startsWith('ai.embed') ? 'embedding' : 'agent';

const ofTraceloop = (attributes: Attributes): SpanKind =>
  attributes.get('traceloop.span.kind') === 'tool' ? 'tool' : 'agent';

const isCallByContent = (attributes: Attributes): boolean => {
  const model = attributes.get('gen_ai.request.model', 'gen_ai.response.model', 'llm.model_name');
  if (model === undefined || attributes.get('gen_ai.agent.name', 'gen_ai.tool.name') !== undefined)
    return false;
  return [
    'gen_ai.input',
    'gen_ai.output',
    'gen_ai.prompt',
    'gen_ai.completion',
    'gen_ai.usage',
    'llm.token_count',
  ].some((prefix) => attributes.get(prefix) !== undefined || attributes.under(prefix).length > 0);
};
