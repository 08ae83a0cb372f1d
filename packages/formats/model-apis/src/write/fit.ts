import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { defined } from '@stemma/values';
import type { ModelApi } from '../api-of.ts';
import { objectOrEmpty, textOrNull } from '../body.ts';

type WrittenApi = Exclude<ModelApi, 'other'>;

/** Parameters and tools that an API takes. */
export type FittedRequest = {
  readonly parameters: WideJsonObject;
  readonly tools: readonly WideJson[];
  /** The parameters and tools that it has nothing like. */
  readonly dropped: readonly string[];
};

/** What the APIs call the same parameter. */
const SAME: readonly { readonly [api in WrittenApi]?: string }[] = [
  {
    'openai.chat': 'max_completion_tokens',
    'openai.responses': 'max_output_tokens',
    'anthropic.messages': 'max_tokens',
  },
  {
    'openai.chat': 'max_tokens',
    'openai.responses': 'max_output_tokens',
    'anthropic.messages': 'max_tokens',
  },
  { 'openai.chat': 'temperature', 'openai.responses': 'temperature', 'anthropic.messages': 'temperature' },
  { 'openai.chat': 'top_p', 'openai.responses': 'top_p', 'anthropic.messages': 'top_p' },
  { 'openai.chat': 'stop', 'anthropic.messages': 'stop_sequences' },
];

/** They point to what only the earlier answer's server has, and the messages are sent whole. */
const OF_A_SERVER: readonly string[] = ['previous_response_id', 'conversation', 'stream_options'];

/** The parameters and tools of a request of one API for a request of another, or of the same. */
export const fitRequest = (
  from: ModelApi,
  to: WrittenApi,
  { parameters, tools }: Pick<FittedRequest, 'parameters' | 'tools'>,
): FittedRequest => {
  const own = Object.entries(parameters).filter(([name]) => !OF_A_SERVER.includes(name));
  if (from === to) return { parameters: Object.fromEntries(own), tools, dropped: [] };
  const fitted: Record<string, WideJson> = {};
  const dropped: string[] = [];
  for (const [name, value] of own) {
    const made = from === 'other' ? null : fitParameter(from, to, name, value);
    if (made === null) dropped.push(name);
    else fitted[made.name] = made.value;
  }
  const kept = tools.flatMap((tool, i) => {
    const made = fitTool(to, tool);
    if (made === null) dropped.push(`tools[${i}]`);
    return made === null ? [] : [made];
  });
  return { parameters: fitted, tools: kept, dropped };
};

const fitParameter = (
  from: WrittenApi,
  to: WrittenApi,
  name: string,
  value: WideJson,
): { readonly name: string; readonly value: WideJson } | null => {
  if (name === 'tool_choice') {
    const choice = fitChoice(to, value);
    return choice === null ? null : { name, value: choice };
  }
  const other = SAME.find((names) => names[from] === name)?.[to];
  if (other === undefined) return null;
  return { name: other, value: other === 'stop_sequences' && typeof value === 'string' ? [value] : value };
};

const CHOICES: Readonly<Record<string, string>> = {
  auto: 'auto',
  none: 'none',
  required: 'any',
  any: 'required',
};

const fitChoice = (to: WrittenApi, value: WideJson): WideJson | null => {
  const { type, name, function: named } = objectOrEmpty(value);
  const word = textOrNull(value) ?? textOrNull(type) ?? '';
  if (CHOICES[word] !== undefined) {
    const isAny = word === 'any' || word === 'required';
    if (to === 'anthropic.messages') return { type: isAny ? 'any' : word };
    return isAny ? 'required' : word;
  }
  const chosen = textOrNull(name) ?? textOrNull(objectOrEmpty(named)['name']);
  if (chosen === null) return null;
  if (to === 'anthropic.messages') return { type: 'tool', name: chosen };
  if (to === 'openai.chat') return { type: 'function', function: { name: chosen } };
  return { type: 'function', name: chosen };
};

/** A tool with a name and a schema; null for one that runs at its provider. */
const fitTool = (to: WrittenApi, tool: WideJson): WideJson | null => {
  if (!isJsonObject(tool)) return null;
  const { name: own, description: about, parameters: schema, input_schema: input } = tool;
  const named = objectOrEmpty(tool['function']);
  const name = textOrNull(own) ?? textOrNull(named['name']);
  const parameters = input ?? named['parameters'] ?? schema;
  if (name === null || (parameters === undefined && tool['type'] !== 'function')) return null;
  const description = textOrNull(about) ?? textOrNull(named['description']);
  const said = { name, ...defined({ description: description ?? undefined }) };
  const given = parameters ?? { type: 'object', properties: {} };
  if (to === 'anthropic.messages') return { ...said, input_schema: given };
  if (to === 'openai.chat') return { type: 'function', function: { ...said, parameters: given } };
  return { type: 'function', ...said, parameters: given };
};
