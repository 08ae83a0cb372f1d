import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { Home } from '@stemma/home';
import { recordExchange, type ExchangeScope } from '../src/index.ts';

export type Message = WideJsonObject & { readonly role: string };

export const system = (text: string): Message => ({ role: 'system', content: text });
export const user = (text: string): Message => ({ role: 'user', content: text });
export const says = (text: string): Message => ({ role: 'assistant', content: text });
export const result = (id: string, text: string): Message => ({
  role: 'tool',
  tool_call_id: id,
  content: text,
});
export const callsTool = (id: string, name: string, args: WideJson): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
});

/** What a call may say besides its messages. */
type Asked = {
  readonly parameters?: { readonly [name: string]: WideJson };
  readonly tools?: readonly WideJson[];
};

const JSON_TYPE = 'application/json';
const bytesOf = (value: WideJson): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

let calls = 0;

/** Records calls of agents, each with the answer that it got. */
export const openRecording = (home: Home, scope: ExchangeScope) => {
  return {
    /** A call of OpenAI's Responses API, with the bytes of both. */
    responses: (request: WideJsonObject, response: WideJsonObject): ReturnType<typeof recordExchange> =>
      recordExchange(home, {
        ...{ id: `call-${++calls}`, by: { recorder: 'test' }, scope },
        request: {
          ...{ form: 'wire', method: 'POST', path: '/v1/responses', contentType: JSON_TYPE, coding: null },
          body: bytesOf({ model: 'm', ...request }),
        },
        end: {
          ...{ status: 'answered', firstByteMs: null, durationMs: null, error: null },
          response: {
            ...{ form: 'wire', httpStatus: 200, contentType: JSON_TYPE, coding: null },
            body: bytesOf({ object: 'response', status: 'completed', model: 'm', ...response }),
          },
        },
      }),
    /** @param answer null: the call failed */
    call: (
      messages: readonly Message[],
      answer: Message | null,
      { parameters = {}, tools = [] }: Asked = {},
    ): ReturnType<typeof recordExchange> =>
      recordExchange(home, {
        ...{ id: `call-${++calls}`, by: { recorder: 'test' }, scope },
        request: { form: 'said', model: 'm', messages, parameters, tools },
        end: {
          ...{ status: answer === null ? 'failed' : 'answered', firstByteMs: null, durationMs: null },
          error: answer === null ? { code: null, message: 'too long' } : null,
          response:
            answer === null ? null : { form: 'said', answer, finishReason: 'stop', model: 'm', usage: null },
        },
      }),
  };
};
