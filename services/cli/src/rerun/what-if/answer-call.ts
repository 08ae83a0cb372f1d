import { isJsonObject, parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { callAndValue } from './call-and-value.ts';
import type { WhatIfKind } from './what-if.ts';

/** `--answer @c4=FILE`: what the agent does if the model answers something else. */
export const answerCall: WhatIfKind = {
  name: 'answer',
  option: [
    '--answer <call=file>',
    '@c4=FILE: the file answers the call (a text, or a message of an assistant as JSON); the next one goes to its provider',
  ],
  read: async (given, { run, readFile }) => {
    const [from, file] = callAndValue(given, run, '--answer @c4=FILE');
    const answer = await messageIn(await readFile(file), file);
    return { from, description: `rerun: ${from} has another answer`, edit: null, answer };
  },
};

/** What a file says is the message of an assistant: JSON with a role or calls of tools, or a text. @throws E_INPUT_SHAPE */
const messageIn = async (text: string, file: string): Promise<WideJsonObject> => {
  const value = jsonIn(text);
  if (!isJsonObject(value) || (value['role'] === undefined && value['tool_calls'] === undefined))
    return { role: 'assistant', content: text };
  const { chatMessageAt } = await import('@stemma/model-apis');
  const message = chatMessageAt({ role: 'assistant', ...value }, file);
  if (message['role'] === 'assistant') return message;
  throw fail('E_INPUT_SHAPE', `${file} is a message of another role: an assistant answers a call`);
};

const jsonIn = (text: string): WideJson => {
  try {
    return parseWideJson(text);
  } catch (error) {
    if (isStemmaError(error)) return null;
    throw error;
  }
};
