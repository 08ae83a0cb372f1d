import type { Script } from './scripted-upstream.ts';

export type Message = Readonly<Record<string, unknown>>;

/** What a request says; one that is none says nothing. */
const requestIn = (body: Buffer): { messages: Message[]; stream?: boolean } => {
  try {
    const request = JSON.parse(body.toString()) as { messages: Message[]; stream?: boolean };
    return Array.isArray(request.messages) ? request : { messages: [] };
  } catch {
    return { messages: [] };
  }
};

/** The answer of a model to a request: it looks things up until it was shown four results, or is told to stop. */
export const scriptedModel: Script = ({ body }, outgoing) => {
  const { messages, stream } = requestIn(body);
  const results = messages.filter(({ role }) => role === 'tool').length;
  const isTold = body.includes('STOP');
  const message =
    isTold || results >= 6
      ? { role: 'assistant', content: isTold ? 'I stop.' : `Done after ${results} results.` }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: `call_${results}`,
              type: 'function',
              function: { name: 'look_up', arguments: `{"n":${results}}` },
            },
          ],
        };
  const finish = 'tool_calls' in message ? 'tool_calls' : 'stop';
  if (stream === true) {
    const chunk = { id: 'c', object: 'chat.completion.chunk', model: 'm-1' };
    const delta =
      'tool_calls' in message
        ? { ...message, tool_calls: (message.tool_calls ?? []).map((call, index) => ({ index, ...call })) }
        : message;
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    outgoing.write(
      `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`,
    );
    outgoing.end(
      `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish }] })}\n\ndata: [DONE]\n\n`,
    );
    return;
  }
  outgoing.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      id: 'c',
      object: 'chat.completion',
      model: 'm-1',
      choices: [{ index: 0, message, finish_reason: finish }],
      usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
    }),
  );
};

export type Agent = {
  readonly messages: Message[];
  /** Calls the model once, and answers the tools that it calls. @returns false when it is done */
  step(): Promise<boolean>;
};

/** An agent that knows nothing of whoever steers it: it keeps a list of its own, and sends all of it. */
export const openAgent = (url: string, task: string, more: Message = {}): Agent => {
  const messages: Message[] = [
    { role: 'system', content: 'You are careful.' },
    { role: 'user', content: task },
  ];
  return {
    messages,
    step: async () => {
      const response = await fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm-1', messages, ...more }, null, 1),
      });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      const { choices } = (await response.json()) as { choices: [{ message: Message }] };
      const { message } = choices[0];
      messages.push(message);
      const calls = message['tool_calls'] as { id: string }[] | undefined;
      for (const { id } of calls ?? [])
        messages.push({ role: 'tool', tool_call_id: id, content: `result of ${id.replace(/-.*/, '')}` });
      return calls !== undefined;
    },
  };
};
