import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { CallUsage } from '@stemma/events';
import { anthropicMessages } from '@stemma/model-apis';
import { openChatItems } from './chat-items.ts';
import { countOf, isList, nonEmpty, objectOf, type Field } from './fields.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';

/**
 * Tasks of Cline and Roo Code, `tasks/ID/api_conversation_history.json`: a list of messages of Anthropic's API with `ts`, `modelInfo` and `metrics`
 * beside them. Each message of the assistant is a call.
 */
export const cline: ForeignReader = {
  name: 'cline',
  mapping: 'cline@1',
  summary: 'tasks of Cline and Roo Code: api_conversation_history.json',
  versions: 'Cline 3 (apps/vscode/src/shared/messages/content.ts), Roo Code 3',
  recognises: (first) => isList(first) && first.length > 0 && first.every(isMessage) && first.some(isOwn),
  async *read(units): AsyncIterable<ForeignItem> {
    for await (const { value, where, fault } of units) {
      if (fault !== undefined) throw fault;
      if (!isList(value)) throw fail('E_INPUT_SHAPE', `${where} is no list of messages`);
      yield { kind: 'conversation', key: null };
      const items = openChatItems();
      for (const [index, message] of value.entries()) {
        if (!isJsonObject(message)) throw fail('E_INPUT_SHAPE', `${where}, message ${index} is no object`);
        const { ts, modelInfo, metrics, id: _id, ...sent } = message;
        const at = countOf(ts) ?? undefined;
        const { modelId } = objectOf(modelInfo);
        for (const read of anthropicMessages(undefined, [sent]))
          yield items.add(read, {
            at,
            model: nonEmpty(modelId) ?? null,
            usage: usageOf(objectOf(metrics)['tokens']),
          });
      }
    }
  },
};

const isMessage = (value: WideJson): value is WideJsonObject =>
  isJsonObject(value) &&
  (value['role'] === 'user' || value['role'] === 'assistant') &&
  (isList(value['content']) || typeof value['content'] === 'string');

const isOwn = (value: WideJson): boolean =>
  isJsonObject(value) && (typeof value['ts'] === 'number' || isJsonObject(value['modelInfo']));

/** `prompt` holds what was read from a cache. */
const usageOf = (tokens: Field): CallUsage | null => {
  const { prompt, completion, cached } = objectOf(tokens);
  const [input, output] = [countOf(prompt), countOf(completion)];
  return input === null && output === null
    ? null
    : { input, output, cached: countOf(cached), cacheWrite: null, reasoning: null };
};
