import { canonicalJson, isJsonObject, parseWideJson, type WideJson } from '@stemma/canonical';

/**
 * What a message of one run is compared by with those of another run: what it says, without the ids of calls of tools, which
 * providers draw by lot.
 *
 * @param comparable the message as JSON, as recorders compare it
 */
export const messageKey = (comparable: string): string => {
  if (!comparable.includes('"tool_call')) return comparable;
  const message = parseWideJson(comparable);
  if (!isJsonObject(message)) return comparable;
  const { tool_call_id: _answers, tool_calls: calls, ...rest } = message;
  return canonicalJson(
    Array.isArray(calls) ? { ...rest, tool_calls: (calls as readonly WideJson[]).map(withoutIds) } : rest,
  );
};

const withoutIds = (call: WideJson): WideJson => {
  if (!isJsonObject(call)) return call;
  const { id: _id, item, ...rest } = call;
  if (item === undefined || !isJsonObject(item)) return item === undefined ? rest : { ...rest, item };
  const { id: _itemId, call_id: _callId, ...what } = item;
  return { ...rest, item: what };
};
