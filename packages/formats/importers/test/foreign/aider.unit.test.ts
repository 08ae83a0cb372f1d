import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aider } from '../../src/foreign/aider.ts';
import { callsIn, itemsOf, messagesIn, namedIn } from './read-items.ts';

test('what the model said between two prompts is a call; what Aider printed is counted', async () => {
  const text = `
# aider chat started at 2026-09-01 10:00:00

> Aider v0.86.1${'  '}
> Model: m with diff edit format${'  '}

#### How deep?${'  '}
#### At pier 1.${'  '}

7 metres:

\`\`\`
7
\`\`\`

> Tokens: 2.1k sent, 30 received.${'  '}
#### /add x.py${'  '}
> Added x.py to the chat.

# aider chat started at 2026-09-02 10:00:00

#### And now?${'  '}

8 m
`;
  const items = await itemsOf(aider, text);
  expect(items.filter(({ kind }) => kind === 'conversation')).toMatchObject([
    { key: null, title: 'aider chat started at 2026-09-01 10:00:00' },
    { key: null },
  ]);
  expect(callsIn(items).map(({ answer }) => answer?.['content'])).toEqual([
    '7 metres:\n\n```\n7\n```',
    '8 m',
  ]);
  expect(messagesIn(items).map(({ messages: [message] }) => message?.['content'])).toEqual([
    'How deep?\nAt pier 1.',
    '/add x.py',
    'And now?',
  ]);
  expect(namedIn(items)).toEqual({ 'line printed by Aider': 4 });
});

test('chats that are made give the same prompts and answers, whatever the ends of lines are', async () => {
  const word = fc.stringMatching(/^[a-z]{1,9}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 6 }),
      fc.constantFrom('\n', '\r\n'),
      async (turns, end) => {
        const text = [
          '# aider chat started at x',
          '',
          ...turns.flatMap(([asked, said]) => [`#### ${asked}  `, '', said, '']),
        ].join(end);
        const items = await itemsOf(aider, text);
        expect(callsIn(items).map(({ answer }) => answer?.['content'])).toEqual(
          turns.map(([, said]) => said),
        );
        expect(messagesIn(items).map(({ messages: [message] }) => message?.['content'])).toEqual(
          turns.map(([asked]) => asked),
        );
      },
    ),
  );
});
