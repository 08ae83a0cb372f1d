import type { WideJson } from '@stemma/canonical';
import type { ModelApi } from '@stemma/model-apis';
import fc from 'fast-check';
import { anthropicList, bedrockList, chatLikeList, geminiList, itemList, json } from './any-request.ts';

const chatList: fc.Arbitrary<WideJson[]> = fc.array(
  fc.record(
    { role: fc.constantFrom('user', 'assistant', 'system', 'odd'), content: fc.oneof(fc.string(), json) },
    { noNullPrototype: true },
  ),
  { maxLength: 5 },
);

/** Those whose requests hold a list of messages. */
export type Api = Exclude<ModelApi, 'other' | 'ollama.generate'>;
const LISTS: Readonly<Record<Api, readonly [field: string, system: string, fc.Arbitrary<WideJson[]>]>> = {
  'openai.chat': ['messages', 'system', chatList],
  'anthropic.messages': ['messages', 'system', anthropicList],
  'openai.responses': ['input', 'instructions', itemList],
  'gemini.generate': ['contents', 'systemInstruction', geminiList],
  'ollama.chat': ['messages', 'system', chatLikeList],
  'cohere.chat': ['messages', 'system', chatLikeList],
  'bedrock.converse': ['messages', 'system', bedrockList],
  'bedrock.invoke': ['messages', 'system', anthropicList],
};

export const APIS = Object.keys(LISTS) as readonly Api[];

/** Requests of one conversation, each of them changed in some way. */
export const conversation = (api: Api): fc.Arbitrary<readonly string[]> => {
  const [field, system, list] = LISTS[api];
  const step = fc.record({
    keep: fc.nat({ max: 9 }),
    add: list,
    system: fc.constantFrom(undefined, 'Be good.', 'Be better.', 7),
    first: fc.boolean(),
    indent: fc.constantFrom(undefined, 1),
  });
  return fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => {
    let items: WideJson[] = [];
    return steps.map(({ keep, add, system: said, first, indent }) => {
      items = [...items.slice(0, keep), ...add];
      const rest = { model: 'm', ...(said === undefined ? {} : { [system]: said }) };
      return JSON.stringify(first ? { [field]: items, ...rest } : { ...rest, [field]: items }, null, indent);
    });
  });
};
