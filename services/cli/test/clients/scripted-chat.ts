import {
  eventStream,
  field,
  inPieces,
  json,
  list,
  scriptedAnswer,
  type ScriptedAnswer,
  type ScriptedBody,
} from './script.ts';

const USAGE = {
  prompt_tokens: 19,
  completion_tokens: 10,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
} as const;

/** OpenAI's Chat Completions, as their reference describes them. */
export const chatCompletion = (request: unknown, number: number): ScriptedBody => {
  const answer = scriptedAnswer({
    number,
    tools: list(field(request, 'tools')).map((tool) => String(field(field(tool, 'function'), 'name'))),
    results: list(field(request, 'messages')).filter((message) => field(message, 'role') === 'tool').length,
    thinks: false,
  });
  const head = { id: `chatcmpl-B9MBs8Cjcv${number}`, created: 1_741_569_952, model: field(request, 'model') };
  return field(request, 'stream') === true
    ? streamed(head, answer, field(field(request, 'stream_options'), 'include_usage') === true)
    : whole(head, answer);
};

const finishOf = ({ calls }: ScriptedAnswer): string => (calls.length > 0 ? 'tool_calls' : 'stop');

const whole = (head: object, answer: ScriptedAnswer): ScriptedBody =>
  json({
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.text,
          ...(answer.calls.length > 0 && {
            tool_calls: answer.calls.map((call) => ({
              id: `call_${call.id}`,
              type: 'function',
              function: { name: call.name, arguments: JSON.stringify(call.arguments) },
            })),
          }),
          refusal: null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: finishOf(answer),
      },
    ],
    usage: USAGE,
    service_tier: 'default',
    system_fingerprint: 'fp_44709d6fcb',
  });

const streamed = (head: object, answer: ScriptedAnswer, withUsage: boolean): ScriptedBody => {
  const chunk = (choices: readonly object[], usage: object | null = null): string =>
    `data: ${JSON.stringify({
      ...head,
      object: 'chat.completion.chunk',
      service_tier: 'default',
      system_fingerprint: 'fp_44709d6fcb',
      choices,
      ...(withUsage && { usage }),
    })}\n\n`;
  const delta = (delta: object, finish_reason: string | null = null): string =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason }]);
  const chunks = [delta({ role: 'assistant', content: answer.text === null ? null : '', refusal: null })];
  for (const content of inPieces(answer.text ?? '')) chunks.push(delta({ content }));
  for (const [index, { id, name, arguments: given }] of answer.calls.entries()) {
    const first = { index, id: `call_${id}`, type: 'function', function: { name, arguments: '' } };
    chunks.push(delta({ tool_calls: [first] }));
    for (const piece of inPieces(JSON.stringify(given)))
      chunks.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  chunks.push(delta({}, finishOf(answer)));
  if (withUsage) chunks.push(chunk([], USAGE));
  return eventStream(`${chunks.join('')}data: [DONE]\n\n`);
};
