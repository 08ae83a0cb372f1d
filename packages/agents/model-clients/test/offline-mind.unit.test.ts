import { sha256Hex } from '@stemma/canonical';
import { expect, test } from 'vitest';
import { answerOf, openMind, requestFor } from '../src/index.ts';

const messages = [
  { role: 'system', content: 'You keep the log of a ship. Write what you see.' },
  {
    role: 'user',
    content: 'The sea is calm. The wind is from the west. The sea is wide, and the wind is cold.',
  },
];
const ask = async (spec: string, seed?: number) => {
  const mind = openMind(spec, { env: {} });
  const question = { messages, ...(seed === undefined ? {} : { seed }) };
  return mind.attempt(requestFor(mind, question), new AbortController().signal);
};

test(
  'the offline mind answers the same bytes to the same messages and seed, on every machine',
  { tags: ['calls§6.8'] },
  async () => {
    const [once, again, other] = [await ask('offline', 7), await ask('offline', 7), await ask('offline', 8)];
    expect(once).toEqual(again);
    expect(sha256Hex(once.response as Uint8Array)).toMatchInlineSnapshot(
      `"fc3db4d10f22d40de7d2b77f4c33a467d4de3fa8096dd15318309dcf040dfab0"`,
    );
    expect(once.answer?.answer).not.toEqual(other.answer?.answer);
    expect(await ask('offline:7')).toMatchObject({ answer: { answer: once.answer?.answer } });
  },
);

test('the offline mind says words that it was shown, each behind two that it was shown before it', async () => {
  const answer = await answerOf(openMind('offline'), { messages, seed: 3 });
  const shown = messages.map(({ content }) => content).join(' ');
  const words = (answer.answer?.['content'] as string).split(' ');
  for (const [i, word] of words.entries()) {
    expect(shown).toContain(word);
    if (i > 1) expect(shown).toContain(`${words[i - 1] ?? ''} ${word}`);
  }
  expect(answer).toMatchObject({ finishReason: 'stop', model: 'offline', complete: true });
  const none = await answerOf(openMind('offline'), { messages: [] });
  expect(none.answer).toEqual({ role: 'assistant', content: '…' });
});

test('a limit of the request holds for the offline mind, and what is no request is refused', async () => {
  const short = await answerOf(openMind('offline'), { messages, parameters: { max_tokens: 3 } });
  expect(short).toMatchObject({ finishReason: 'length', usage: { output: 3 } });
  const bad = await openMind('offline').attempt(Buffer.from('{'), new AbortController().signal);
  expect(bad).toMatchObject({ status: 'failed', error: { code: 'E_MIND_REFUSED' } });
});
