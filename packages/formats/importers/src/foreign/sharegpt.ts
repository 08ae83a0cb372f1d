import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { openChatItems, type ForeignCallFacts, type ChatItems } from './chat-items.ts';
import { isList, listOf, nonEmpty, textOf, type Field } from './fields.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';

/**
 * Lists to train on: `{conversations: [{from: 'human', value}, {from: 'gpt', value}]}` (ShareGPT, LlamaFactory), and
 * `{instruction, input, output}` (Alpaca). A file is one of them, a list of them, or one on each line; each is a conversation. Calls of
 * tools that stand in a text stay text; those that are a turn of their own (`function_call`) are calls, which the next results answer. Of
 * `chosen` and `rejected` answers, each is a branch.
 */
export const shareGpt: ForeignReader = {
  name: 'sharegpt',
  mapping: 'sharegpt@1',
  summary:
    'ShareGPT, LlamaFactory and Alpaca lists: {conversations: [{from, value}]}, {instruction, input, output}',
  versions:
    'ShareGPT (`human`, `gpt`, `system`, `tool` …), LlamaFactory 0.9 (`function_call`, `observation`, `system`, `tools`, `chosen`, `rejected`, `history`), Alpaca',
  recognises: (first) => isRow(first) || listOf(first).slice(0, 20).some(isRow) || isTurns(first),
  takesItems: (first) => isRow(first),
  async *read(units): AsyncIterable<ForeignItem> {
    for await (const { value, where, fault } of units) {
      if (fault !== undefined) throw fault;
      const rows = isList(value) && !isTurns(value) ? value : [value];
      for (const [index, row] of rows.entries())
        yield* itemsOf(row, rows.length === 1 ? where : `${where}, item ${index}`);
    }
  },
};

const isTurn = (value: WideJson): boolean =>
  isJsonObject(value) && typeof value['from'] === 'string' && value['value'] !== undefined;

const isTurns = (value: Field): boolean => isList(value) && value.length > 0 && value.every(isTurn);

const turnsOf = ({ conversations, conversation }: WideJsonObject): Field => conversations ?? conversation;

const isRow = (value: WideJson): boolean => {
  if (!isJsonObject(value)) return false;
  const { instruction, output, chosen, prompt, completion } = value;
  return (
    isTurns(turnsOf(value)) ||
    (typeof instruction === 'string' && (typeof output === 'string' || typeof chosen === 'string')) ||
    (typeof prompt === 'string' && typeof completion === 'string')
  );
};

/** Fields of a row that become messages or facts of a conversation. */
const READ = new Set([
  ...['conversations', 'conversation', 'system', 'tools', 'chosen', 'rejected', 'id', 'title'],
  ...['instruction', 'input', 'output', 'history', 'prompt', 'completion', 'images'],
]);

function* itemsOf(row: WideJson, where: string): Iterable<ForeignItem> {
  const fields: WideJsonObject = isList(row) ? { conversations: row } : isJsonObject(row) ? row : {};
  const turns = turnsOf(fields);
  if (!isTurns(turns) && !isRow(row))
    throw fail('E_INPUT_SHAPE', `${where} is no conversation, as others are`);
  yield { kind: 'conversation', key: null, title: nonEmpty(fields['title']) };
  for (const [field, value] of Object.entries(fields))
    if (!READ.has(field) && value !== null)
      yield { kind: 'dropped', what: `field ${field.slice(0, 60)}`, count: isList(value) ? value.length : 1 };
  const tools = toolsOf(fields['tools']);
  const items = openChatItems({ tools: tools !== null });
  const facts: ForeignCallFacts = tools === null ? {} : { tools };
  const system = nonEmpty(fields['system']);
  if (system !== undefined) yield items.add({ role: 'system', content: system });
  const images = openImages(fields['images']);
  if (isList(turns)) yield* itemsOfTurns(turns, items, facts, images, where);
  else yield* itemsOfInstruction(fields, items, facts, images);
  yield* itemsOfChoice(fields, items, facts);
  const left = images.left();
  if (left > 0) yield { kind: 'dropped', what: 'image without a place in a text', count: left };
}

type Images = {
  /** What a user said: `<image>` in it stands for the next image. */
  readonly contentOf: (said: string) => WideJson;
  readonly left: () => number;
};

const openImages = (images: Field): Images => {
  const waiting = listOf(images).map((image) =>
    typeof image === 'string' ? { type: 'image_url', image_url: { url: image } } : { type: 'image', image },
  );
  return {
    contentOf: (said) => {
      if (waiting.length === 0 || !said.includes('<image>')) return said;
      const [first = '', ...texts] = said.split('<image>');
      const parts: WideJson[] = first === '' ? [] : [{ type: 'text', text: first }];
      for (const text of texts) {
        parts.push(waiting.shift() ?? { type: 'text', text: '<image>' });
        if (text !== '') parts.push({ type: 'text', text });
      }
      return parts;
    },
    left: () => waiting.length,
  };
};

const ROLES: { readonly [from: string]: 'user' | 'assistant' | 'system' | 'tool' | 'call' } = {
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  assistant: 'assistant',
  model: 'assistant',
  chatgpt: 'assistant',
  bing: 'assistant',
  bard: 'assistant',
  system: 'system',
  tool: 'tool',
  observation: 'tool',
  function_response: 'tool',
  'function-response': 'tool',
  function_call: 'call',
  'function-call': 'call',
};

function* itemsOfTurns(
  turns: readonly WideJson[],
  items: ChatItems,
  facts: ForeignCallFacts,
  images: Images,
  where: string,
): Iterable<ForeignItem> {
  const calls = openCalls();
  for (const [index, turn] of turns.entries()) {
    const place = `${where}, turn ${index}`;
    if (!isJsonObject(turn)) throw fail('E_INPUT_SHAPE', `${place} is no turn`);
    const { from, value } = turn;
    const role = typeof from === 'string' && Object.hasOwn(ROLES, from) ? ROLES[from] : undefined;
    if (role === undefined)
      throw fail(
        'E_ROLE_UNKNOWN',
        `${place} is from ${canonicalJson(from ?? null).slice(0, 60)}, which is none of ${Object.keys(ROLES).join(', ')}`,
      );
    const said = saidOf(value);
    const isLast = index === turns.length - 1;
    const more = { ...facts, ...(isLast && { id: 'last' }) };
    if (role === 'call') yield items.add(calls.answerOf(said), more);
    else if (role === 'tool')
      yield items.add({ role, ...calls.answered(), content: said }, isLast ? { id: 'last' } : {});
    else
      yield items.add(
        { role, content: role === 'user' ? images.contentOf(said) : said },
        role === 'assistant' ? more : isLast ? { id: 'last' } : {},
      );
  }
}

const saidOf = (value: Field): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : canonicalJson(value);

/** Calls that are a turn, `{"name": "f", "arguments": {…}}` or a list of such, and the results that follow. */
const openCalls = () => {
  let count = 0;
  let open: string[] = [];
  return {
    answerOf: (said: string): WideJsonObject => {
      const calls = callsIn(said);
      if (calls === null) return { role: 'assistant', content: said };
      open = [];
      const made = calls.map((call) => {
        const id = `call-${++count}`;
        open.push(id);
        return { id, type: 'function', function: call };
      });
      return { role: 'assistant', content: null, tool_calls: made };
    },
    answered: (): { readonly tool_call_id?: string } => {
      const id = open.shift();
      return id === undefined ? {} : { tool_call_id: id };
    },
  };
};

/** The names and arguments of calls; null: the text is no JSON of them. */
const callsIn = (text: string): readonly { readonly name: string; readonly arguments: string }[] | null => {
  const parsed = parsedOf(text);
  const listed = isList(parsed) ? parsed : [parsed];
  const calls = listed.flatMap((item) => {
    if (!isJsonObject(item)) return [];
    const { name, arguments: given = {} } = item;
    if (typeof name !== 'string') return [];
    return [{ name, arguments: typeof given === 'string' ? given : canonicalJson(given) }];
  });
  return calls.length > 0 && calls.length === listed.length ? calls : null;
};

const parsedOf = (text: string): WideJson => {
  try {
    return parseWideJson(text);
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return null;
  }
};

/** The definitions of tools: a list, or the JSON of one; null: there are none. */
const toolsOf = (tools: Field): readonly WideJson[] | null => {
  const given = typeof tools === 'string' ? parsedOf(tools) : tools;
  return isList(given) && given.length > 0 ? given : null;
};

function* itemsOfInstruction(
  fields: WideJsonObject,
  items: ChatItems,
  facts: ForeignCallFacts,
  images: Images,
): Iterable<ForeignItem> {
  for (const pair of listOf(fields['history'])) {
    const [asked, said] = listOf(pair);
    if (typeof asked === 'string') yield items.add({ role: 'user', content: asked });
    if (typeof said === 'string') yield items.add({ role: 'assistant', content: said }, facts);
  }
  const { instruction, input, output, prompt, completion } = fields;
  const parts = [textOf(instruction) ?? textOf(prompt), nonEmpty(input)];
  const asked = parts.filter((part) => part !== undefined && part !== '').join('\n');
  yield items.add({ role: 'user', content: images.contentOf(asked) }, { id: 'last' });
  const answer = textOf(output) ?? textOf(completion);
  if (answer !== undefined) yield items.add({ role: 'assistant', content: answer }, facts);
}

/** Two answers to one question, of which people or a program prefer one. */
function* itemsOfChoice(
  fields: WideJsonObject,
  items: ChatItems,
  facts: ForeignCallFacts,
): Iterable<ForeignItem> {
  for (const name of ['chosen', 'rejected']) {
    const given = fields[name];
    const said = isJsonObject(given) ? given['value'] : given;
    if (typeof said === 'string')
      yield items.add({ role: 'assistant', content: said }, { ...facts, id: name, after: 'last' });
    else if (said !== undefined && said !== null) yield { kind: 'dropped', what: `field ${name}` };
  }
}
