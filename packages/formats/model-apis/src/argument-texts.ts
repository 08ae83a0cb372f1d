import { isJsonObject, type WideJson } from '@stemma/canonical';

/** The texts in the arguments of the tools that an answer calls. */
export const argumentTexts = (answer: WideJson | null | undefined): readonly string[] => {
  const calls = isJsonObject(answer) ? answer['tool_calls'] : undefined;
  return Array.isArray(calls) ? (calls as readonly WideJson[]).flatMap(textsOfCall) : [];
};

const textsOfCall = (call: WideJson): readonly string[] => {
  if (!isJsonObject(call)) return [];
  const { function: named, custom } = call;
  if (isJsonObject(custom) && typeof custom['input'] === 'string') return [custom['input']];
  const said = isJsonObject(named) ? named['arguments'] : undefined;
  if (typeof said !== 'string') return [];
  try {
    return textsIn(JSON.parse(said) as WideJson);
  } catch {
    return [said];
  }
};

const textsIn = (value: WideJson): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null
    ? Object.values(value as object).flatMap((item) => textsIn(item as WideJson))
    : [];
};
