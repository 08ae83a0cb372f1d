import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { isList, type RequestForm } from '../request-form.ts';

/** Gemini's requests: `{systemInstruction, contents, …}`, each of them with `parts`. Its libraries write `system_instruction` too. */
export const geminiForm: RequestForm = {
  mapping: 'gemini@2',
  fields: ['systemInstruction', 'system_instruction', 'contents'],
  isBody: ({ contents, systemInstruction, system_instruction: snake = systemInstruction }) =>
    isContents(contents) || (typeof contents === 'string' && snake !== undefined),
  isOwnList: () => false,
  bodyOf: (contents) => ({ contents }),
  messages: ({ contents, systemInstruction, system_instruction: system = systemInstruction }) => {
    if (system !== systemInstruction && systemInstruction !== undefined)
      throw fail('E_INPUT_SHAPE', 'the request has both systemInstruction and system_instruction: keep one');
    return [...systemOf(system), ...(isList(contents) ? contents : [contents]).map(asMessage)];
  },
};

const isContents = (contents: WideJson | undefined): boolean =>
  isList(contents) ? contents.length > 0 && contents.every(hasParts) : hasParts(contents);

const hasParts = (value: WideJson | undefined): boolean => isJsonObject(value) && isList(value['parts']);

const systemOf = (system: WideJson | undefined): readonly WideJsonObject[] => {
  if (system === undefined || system === null) return [];
  if (typeof system === 'string') return [{ role: 'system', content: system }];
  const content = isList(system) ? { parts: system } : system;
  if (!isJsonObject(content))
    throw fail('E_INPUT_SHAPE', 'the system instruction is neither a text nor parts');
  const { parts } = content;
  const listed = isList(parts) ? parts : parts === undefined ? [] : [parts];
  return [{ ...content, role: 'system', parts: listed.map(asPart) }];
};

/** A content that names no role is the user's. */
const asMessage = (content: WideJson | undefined): WideJson => {
  if (typeof content === 'string') return { role: 'user', content };
  if (!isJsonObject(content)) return content ?? null;
  const { role, parts } = content;
  return {
    ...content,
    role: role ?? 'user',
    ...(isList(parts) ? { parts: parts.map(asPart) } : {}),
  };
};

const asPart = (part: WideJson): WideJson => (typeof part === 'string' ? { text: part } : part);
