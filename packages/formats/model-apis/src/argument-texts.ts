import { isJsonObject, sha256Hex, type WideJson } from '@stemma/canonical';

/** Characters of a text that tells which call is meant: shorter ones are in many arguments. */
export const LEAST_TOLD = 8;

/** Whether a text tells what an argument does, or an argument what a text does (calls §3.8). */
export const isToldIn = (argument: string, text: string): boolean =>
  (text.length >= LEAST_TOLD && argument.includes(text)) ||
  (argument.length >= LEAST_TOLD && text.includes(argument));

/** A text that tells which call is meant, for those who keep many of them. */
export const hashOfTold = (text: string): string => sha256Hex(text);

/** The texts in the arguments of the tools that an answer calls, without white space around them. */
export const argumentTexts = (answer: WideJson | null | undefined): readonly string[] => {
  const calls = isJsonObject(answer) ? answer['tool_calls'] : undefined;
  return Array.isArray(calls) ? (calls as readonly WideJson[]).flatMap(textsOfToolCall) : [];
};

/** The texts among the arguments of a tool call, without white space around them. */
const textsOfToolCall = (call: WideJson): readonly string[] => textsOfCall(call).map((text) => text.trim());

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

/** The texts of users among messages, without white space around them. */
export const userTexts = (messages: readonly WideJson[]): readonly string[] =>
  messages
    .filter((message) => isJsonObject(message) && message['role'] === 'user')
    .flatMap((message) => textsOfContent((message as { readonly content?: WideJson }).content))
    .map((text) => text.trim());

const textsOfContent = (content: WideJson | undefined): readonly string[] => {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return (content as readonly WideJson[]).flatMap((part) =>
    isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : [],
  );
};
