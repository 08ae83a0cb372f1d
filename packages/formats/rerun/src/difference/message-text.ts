import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';

/** What a message says, for people: its texts, then its calls of tools. */
export const messageText = ({ content, tool_calls: calls }: WideJsonObject): string =>
  [...contentTexts(content), ...(isList(calls) ? calls.map(callText) : [])].join('\n');

const contentTexts = (content: WideJson | undefined): readonly string[] => {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [content];
  return isList(content) ? content.map(partText) : [canonicalJson(content)];
};

const partText = (part: WideJson): string =>
  isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : canonicalJson(part);

const callText = (call: WideJson): string => {
  const { name, said } = calledTool(call);
  return `${name}(${said})`;
};

/** The name of a called tool, and what it was called with. */
export const calledTool = (call: WideJson): { readonly name: string; readonly said: string } => {
  const called = isJsonObject(call) ? (call['function'] ?? call['custom']) : undefined;
  if (!isJsonObject(called)) return { name: '?', said: canonicalJson(call) };
  const said = called['arguments'] ?? called['input'] ?? '';
  return {
    name: typeof called['name'] === 'string' ? called['name'] : '?',
    said: typeof said === 'string' ? said : canonicalJson(said),
  };
};

export const isList = (value: WideJson | undefined): value is readonly WideJson[] => Array.isArray(value);
