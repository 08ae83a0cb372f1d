import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { ChatItems, ForeignCallFacts } from '../chat-items.ts';
import { listOf, objectOf } from '../fields.ts';
import type { ForeignItem } from '../item.ts';
import { langChainFacts, langChainMessage } from './langchain.ts';

/**
 * A message of LangChain as items: a call of its model, or a message; what of it is recorded nowhere is named. None for any other value.
 *
 * @param facts what the file says of it beside the message
 */
export function* itemsOfLangChain(
  value: WideJson,
  items: ChatItems,
  facts: ForeignCallFacts = {},
): Iterable<ForeignItem> {
  const message = langChainMessage(value);
  if (message === null) return;
  const fields = fieldsOf(value);
  const lost = listOf(fields['invalid_tool_calls']).length;
  if (lost > 0) yield { kind: 'dropped', what: 'call that is no JSON', count: lost };
  if (fields['artifact'] !== undefined && fields['artifact'] !== null)
    yield { kind: 'dropped', what: 'field artifact' };
  yield items.add(message, { ...langChainFacts(value), ...facts });
}

/** The fields of a message in any of LangChain's forms. */
export const fieldsOf = (value: WideJson): WideJsonObject => {
  const fields = objectOf(value);
  if (isJsonObject(fields['kwargs'])) return fields['kwargs'];
  return isJsonObject(fields['data']) ? fields['data'] : fields;
};
