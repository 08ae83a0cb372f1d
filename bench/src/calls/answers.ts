/** The body of an answer of OpenAI's chat API as JSON, and as a stream of events, one for each word or so. */
export const ANSWERS: Readonly<Record<'json' | 'streamed', (turn: number, content: string) => Uint8Array>> = {
  json: (turn, content) =>
    Buffer.from(
      JSON.stringify({
        ...commonOf(turn),
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        usage: usageOf(turn),
      }),
    ),
  streamed: (turn, content) => {
    const chunk = (part: object): string =>
      `data: ${JSON.stringify({ ...commonOf(turn), object: 'chat.completion.chunk', ...part })}\n\n`;
    const delta = (part: object, finish: string | null): string =>
      chunk({ choices: [{ index: 0, delta: part, finish_reason: finish }] });
    const words = content.match(/ ?[^ ]{1,6}/g) ?? [];
    return Buffer.from(
      [
        delta({ role: 'assistant', content: '' }, null),
        ...words.map((word) => delta({ content: word }, null)),
        delta({}, 'stop'),
        chunk({ choices: [], usage: usageOf(turn) }),
        'data: [DONE]\n\n',
      ].join(''),
    );
  },
};

const commonOf = (turn: number): object => ({
  id: `chatcmpl-${turn}`,
  created: 1_700_000_000 + turn,
  model: 'bench',
});

const usageOf = (turn: number): object => ({
  prompt_tokens: 500 * turn,
  completion_tokens: 250,
  total_tokens: 500 * turn + 250,
});
