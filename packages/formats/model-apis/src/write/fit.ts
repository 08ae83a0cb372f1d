import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { defined } from '@stemma/values';
import type { ModelApi, ReadApi } from '../api-names.ts';
import { formatOf } from '../apis.ts';
import { isList, objectOrEmpty, textOrNull } from '../body.ts';
import type { ParameterNames, ToolChoice, ToolToWrite } from './fit-form.ts';

/** Parameters and tools that an API takes. */
export type FittedRequest = {
  readonly parameters: WideJsonObject;
  readonly tools: readonly WideJson[];
  /** The parameters and tools that it has nothing like. */
  readonly dropped: readonly string[];
};

/** They point to what only the earlier answer's server has, and the messages are sent whole. */
const OF_A_SERVER: readonly string[] = ['previous_response_id', 'conversation', 'stream_options'];

/** The parameters and tools of a request of one API for a request of another, or of the same. */
export const fitRequest = (
  from: ModelApi,
  to: ReadApi,
  { parameters, tools }: Pick<FittedRequest, 'parameters' | 'tools'>,
): FittedRequest => {
  const own = Object.entries(parameters).filter(([name]) => !OF_A_SERVER.includes(name));
  if (from === to) return { parameters: Object.fromEntries(own), tools, dropped: [] };
  const dropped: string[] = [];
  const target = formatOf(to);
  const fitted: Record<string, WideJson> = {};
  const inner: Record<string, WideJson> = {};
  const { within } = target.parameters;
  for (const [name, value] of flattened(from, own)) {
    const made = from === 'other' ? null : fitParameter(from, to, name, value);
    if (made === null) dropped.push(name);
    else if (made.isChoice || within === undefined) fitted[made.name] = made.value;
    else inner[made.name] = made.value;
  }
  if (within !== undefined && Object.keys(inner).length > 0) fitted[within] = inner;
  const kept = tools.flatMap(declaredTools).flatMap((tool, i) => {
    const plain = plainTool(tool);
    if (plain === null) dropped.push(`tools[${i}]`);
    return plain === null ? [] : [target.toolForm.tool(plain)];
  });
  return { parameters: fitted, tools: kept, dropped };
};

/** The parameters, those that an API has in an object of their own among them. */
const flattened = (
  from: ModelApi,
  own: readonly (readonly [string, WideJson])[],
): readonly (readonly [string, WideJson])[] => {
  const within = from === 'other' ? undefined : formatOf(from).parameters.within;
  return own.flatMap(([name, value]) =>
    name === within && isJsonObject(value) ? Object.entries(value) : [[name, value] as const],
  );
};

type FittedParameter = { readonly name: string; readonly value: WideJson; readonly isChoice: boolean };

const fitParameter = (from: ReadApi, to: ReadApi, name: string, value: WideJson): FittedParameter | null => {
  if (CHOICE_FIELDS.includes(name)) {
    const choice = choiceIn(value);
    const made = choice === null ? null : formatOf(to).toolForm.choice(choice);
    return made === null ? null : { ...made, isChoice: true };
  }
  const [names, others] = [formatOf(from).parameters, formatOf(to).parameters];
  const field = FIELDS.find((each) => namesIn(names, each).includes(name));
  const other = field === undefined ? undefined : namesIn(others, field)[0];
  if (other === undefined) return null;
  const isListed = field === 'stop' && others.isStopList === true && typeof value === 'string';
  return { name: other, value: isListed ? [value] : value, isChoice: false };
};

const FIELDS = ['limit', 'temperature', 'topP', 'stop'] as const;

const namesIn = (names: ParameterNames, field: (typeof FIELDS)[number]): readonly string[] => {
  const found = names[field];
  return typeof found === 'string' ? [found] : (found ?? []);
};

/** Fields that say which tool is to be called. */
const CHOICE_FIELDS: readonly string[] = ['tool_choice', 'toolConfig'];

const CHOICES: Readonly<Record<string, ToolChoice>> = {
  auto: 'auto',
  none: 'none',
  required: 'required',
  any: 'required',
};

/** The choice that a value says, in the words of whichever API; null: none that others have. */
const choiceIn = (value: WideJson): ToolChoice | null => {
  const { type, name, function: named, functionCallingConfig, toolChoice } = objectOrEmpty(value);
  if (isJsonObject(functionCallingConfig)) {
    const { mode, allowedFunctionNames: allowed } = functionCallingConfig;
    const [only, ...others] = isList(allowed) ? allowed : [];
    if (typeof only === 'string' && others.length === 0) return { name: only };
    return CHOICES[(textOrNull(mode) ?? '').toLowerCase()] ?? null;
  }
  if (isJsonObject(toolChoice)) {
    const tool = textOrNull(objectOrEmpty(toolChoice['tool'])['name']);
    if (tool !== null) return { name: tool };
    return CHOICES[Object.keys(toolChoice)[0] ?? ''] ?? null;
  }
  const word = textOrNull(value) ?? textOrNull(type) ?? '';
  const known = CHOICES[word.toLowerCase()];
  if (known !== undefined) return known;
  const chosen = textOrNull(name) ?? textOrNull(objectOrEmpty(named)['name']);
  return chosen === null ? null : { name: chosen };
};

/** Gemini's tools are lists of declarations. */
const declaredTools = (tool: WideJson): readonly WideJson[] => {
  const declared = isJsonObject(tool) ? tool['functionDeclarations'] : undefined;
  return isList(declared) ? declared : [tool];
};

/** A tool with a name and a schema; null for one that runs at its provider. */
const plainTool = (given: WideJson): ToolToWrite | null => {
  if (!isJsonObject(given)) return null;
  const tool = isJsonObject(given['toolSpec']) ? given['toolSpec'] : given;
  const { name: own, description: about, parameters: schema, input_schema: input } = tool;
  const named = objectOrEmpty(tool['function']);
  const name = textOrNull(own) ?? textOrNull(named['name']);
  const json = objectOrEmpty(tool['inputSchema'])['json'] ?? tool['parametersJsonSchema'];
  const parameters = input ?? named['parameters'] ?? json ?? schema;
  if (name === null || (parameters === undefined && tool['type'] !== 'function')) return null;
  const description = textOrNull(about) ?? textOrNull(named['description']);
  return {
    name,
    ...defined({ description: description ?? undefined }),
    schema: parameters ?? { type: 'object', properties: {} },
  };
};
