import fc from 'fast-check';

/** A message of a generated conversation. */
export type AnyMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly AnyToolCall[] }
  | { readonly role: 'tool'; readonly text: string; readonly answers: string };
export type AnyToolCall = {
  readonly id: string;
  readonly name: string;
  readonly input: { readonly at: string };
};

/** A call of a generated conversation: what the model was shown, and what it answered. */
export type AnyCall = {
  readonly shown: readonly AnyMessage[];
  readonly answer: Extract<AnyMessage, { role: 'assistant' }>;
  readonly usage: { readonly input: number; readonly output: number };
};

const word = fc.stringMatching(/^[a-zäß]{1,8}[?.!]$/);

/** The calls of an agent's conversation: each turn calls tools, and is shown their results, or answers the user. */
export const anyCalls: fc.Arbitrary<readonly AnyCall[]> = fc
  .array(
    fc.record({
      said: word,
      tools: fc.array(fc.record({ name: fc.constantFrom('depth', 'tide'), at: word, result: word }), {
        maxLength: 2,
      }),
      next: word,
      input: fc.nat(9_999),
      output: fc.nat(999),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((turns) => {
    const shown: AnyMessage[] = [
      { role: 'system', text: 'You help.' },
      { role: 'user', text: 'How deep is it?' },
    ];
    return turns.map(({ said, tools, next, input, output }, turn) => {
      const calls = tools.map(({ name, at }, i) => ({ id: `c${turn}-${i}`, name, input: { at } }));
      const answer = { role: 'assistant' as const, text: calls.length === 0 ? said : '', calls };
      const call = { shown: [...shown], answer, usage: { input, output } };
      shown.push(answer);
      for (const [i, { result }] of tools.entries())
        shown.push({ role: 'tool', text: result, answers: `c${turn}-${i}` });
      if (calls.length === 0) shown.push({ role: 'user', text: next });
      return call;
    });
  });

/** A message as `plainMessage` gives it. */
export const expectedMessage = (message: AnyMessage): unknown => ({
  role: message.role,
  text: message.text,
  calls: message.role === 'assistant' ? message.calls : [],
  ...(message.role === 'tool' && { answers: message.answers }),
});

/** A message as OpenAI's chat API has it. */
export const chatOf = (message: AnyMessage): object => {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.answers, content: message.text };
  if (message.role !== 'assistant') return { role: message.role, content: message.text };
  return {
    role: 'assistant',
    content: message.text === '' ? null : message.text,
    ...(message.calls.length > 0 && {
      tool_calls: message.calls.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      })),
    }),
  };
};

/** Any JSON value but one with a key that no file may have. */
export const anyValue = fc
  .jsonValue({ maxDepth: 3 })
  .filter((value) => !/"(__proto__|constructor|prototype)":/.test(JSON.stringify(value)));
