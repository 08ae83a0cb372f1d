import { isJsonObject, type WideJson } from '@stemma/canonical';
import { responsesMessages } from '@stemma/model-apis';
import { isList, type RequestForm } from '../request-form.ts';

/** OpenAI's Responses: `{instructions, input, …}`; the input is a text or a list of items. */
export const responsesForm: RequestForm = {
  mapping: 'openai-responses@2',
  fields: ['instructions', 'input'],
  isBody: ({ instructions, model, input }) =>
    (isList(input) && (typeof instructions === 'string' || typeof model === 'string' || holdsItems(input))) ||
    (typeof input === 'string' && (typeof instructions === 'string' || typeof model === 'string')),
  isOwnList: (items) => holdsItems(items),
  bodyOf: (input) => ({ input }),
  messages: ({ instructions, input }) => responsesMessages(instructions, input),
};

const ITEMS: ReadonlySet<WideJson | undefined> = new Set([
  'function_call',
  'function_call_output',
  'reasoning',
  'item_reference',
]);

const holdsItems = (items: readonly WideJson[]): boolean =>
  items.some((item) => isJsonObject(item) && item['role'] === undefined && ITEMS.has(item['type']));
