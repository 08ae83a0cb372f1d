import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { ExportedCall } from './exporter.ts';
import { objectOf, textOf } from './fields.ts';

type Kind = 'whole' | 'number' | 'truth' | 'texts';

/** The parameters that Inspect's `GenerateConfig` has, and what they may be. All others go under `extra_body`. */
const KINDS: Readonly<Record<string, Kind>> = {
  max_tokens: 'whole',
  top_p: 'number',
  temperature: 'number',
  stop_seqs: 'texts',
  best_of: 'whole',
  frequency_penalty: 'number',
  presence_penalty: 'number',
  seed: 'whole',
  top_k: 'whole',
  num_choices: 'whole',
  logprobs: 'truth',
  top_logprobs: 'whole',
  parallel_tool_calls: 'truth',
  internal_tools: 'truth',
  max_tool_output: 'whole',
  reasoning_tokens: 'whole',
  max_retries: 'whole',
  timeout: 'whole',
  max_connections: 'whole',
};

const EFFORTS: ReadonlySet<WideJson> = new Set(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

const fits = (name: string, value: WideJson): boolean => {
  if (name === 'reasoning_effort') return EFFORTS.has(value);
  if (name === 'cache_prompt') return value === 'auto' || typeof value === 'boolean';
  switch (KINDS[name]) {
    case 'whole':
      return typeof value === 'number' && Number.isSafeInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'truth':
      return typeof value === 'boolean';
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    default:
      return false;
  }
};

/** The parameters of a call in Inspect's words, and which tool is to be called. */
export const configOf = ({
  parameters,
}: Pick<ExportedCall, 'parameters'>): { readonly config: WideJsonObject; readonly choice: WideJson } => {
  const { tool_choice: choice = null, extra_body: body, ...others } = objectOf(parameters);
  const config: Record<string, WideJson> = {};
  const extra: Record<string, WideJson> = { ...objectOf(body) };
  for (const [name, value] of Object.entries(others)) {
    if (fits(name, value)) config[name] = value;
    else if (name === 'stop' && (typeof value === 'string' || fits('stop_seqs', value)))
      config['stop_seqs'] = typeof value === 'string' ? [value] : value;
    else extra[name] = value;
  }
  return { config: { ...config, ...(Object.keys(extra).length > 0 && { extra_body: extra }) }, choice };
};

/** `auto`, `any`, `none` or a tool; undefined for anything else. */
export const toolChoiceOf = (choice: WideJson): WideJson | undefined => {
  if (choice === 'auto' || choice === 'any' || choice === 'none') return choice;
  if (choice === 'required') return 'any';
  const { name, function: named } = objectOf(choice);
  const chosen = textOf(name) ?? textOf(objectOf(named)['name']);
  return chosen === undefined ? undefined : { name: chosen };
};
