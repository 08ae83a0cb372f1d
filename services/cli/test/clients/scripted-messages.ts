import { eventStream, field, inPieces, json, list, scriptedAnswer, type ScriptedBody } from './script.ts';

type Block =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object };

/** Anthropic's Messages, as their documentation describes them. */
export const message = (request: unknown, number: number): ScriptedBody => {
  const thinking = field(field(request, 'thinking'), 'type');
  const answer = scriptedAnswer({
    number,
    tools: list(field(request, 'tools')).map((tool) => String(field(tool, 'name'))),
    results: list(field(request, 'messages'))
      .flatMap((each) => list(field(each, 'content')))
      .filter((part) => field(part, 'type') === 'tool_result').length,
    thinks: thinking !== undefined && thinking !== 'disabled',
  });
  const content: Block[] = [];
  if (answer.thinking !== null)
    content.push({ type: 'thinking', thinking: answer.thinking, signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' });
  if (answer.text !== null) content.push({ type: 'text', text: answer.text });
  for (const { id, name, arguments: input } of answer.calls)
    content.push({ type: 'tool_use', id: `toolu_01T1x1fJ34qAma2tNTrN7Up6${id}`, name, input });
  const whole = {
    id: `msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY${number}`,
    type: 'message',
    role: 'assistant',
    model: field(request, 'model'),
    content,
    stop_reason: answer.calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: 472,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 89,
      service_tier: 'standard',
    },
  };
  return field(request, 'stream') === true ? streamed(whole) : json(whole);
};

const streamed = ({
  content,
  stop_reason,
  stop_sequence,
  usage,
  ...head
}: {
  readonly content: readonly Block[];
  readonly stop_reason: string;
  readonly stop_sequence: null;
  readonly usage: { readonly output_tokens: number };
}): ScriptedBody => {
  const events: string[] = [];
  const send = (type: string, fields: object): void =>
    void events.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  const begun = { ...usage, output_tokens: 1 };
  send('message_start', {
    message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: begun },
  });
  content.forEach((block, index) => {
    const delta = (type: string, fields: object): void =>
      send('content_block_delta', { index, delta: { type, ...fields } });
    const start = (content_block: object): void => send('content_block_start', { index, content_block });
    switch (block.type) {
      case 'thinking':
        start({ type: 'thinking', thinking: '', signature: '' });
        for (const thinking of inPieces(block.thinking)) delta('thinking_delta', { thinking });
        delta('signature_delta', { signature: block.signature });
        break;
      case 'text':
        start({ type: 'text', text: '' });
        for (const text of inPieces(block.text)) delta('text_delta', { text });
        break;
      case 'tool_use':
        start({ type: 'tool_use', id: block.id, name: block.name, input: {} });
        delta('input_json_delta', { partial_json: '' });
        for (const partial_json of inPieces(JSON.stringify(block.input)))
          delta('input_json_delta', { partial_json });
    }
    if (index === 0) send('ping', {});
    send('content_block_stop', { index });
  });
  send('message_delta', {
    delta: { stop_reason, stop_sequence },
    usage: { output_tokens: usage.output_tokens },
  });
  send('message_stop', {});
  return eventStream(events.join(''));
};
