import { expect, test } from 'vitest';
import { nameOfMessages } from '../src/index.ts';

const user = (...texts: string[]) => ({
  role: 'user',
  content: texts.length === 1 ? (texts[0] as string) : texts.map((text) => ({ type: 'text', text })),
});

test.each([
  ['a person', [user('Book a flight to Berlin')], 'Book-a-flight-to-Berlin'],
  ['one word', [user('hi')], 'chat-hi'],
  [
    'a person behind what a client put there',
    [user('<system-reminder>\nToday is Monday.\n</system-reminder>\n', 'Mend the parser')],
    'Mend-the-parser',
  ],
  [
    'a person behind blocks in the same text',
    [
      user(
        '<environment_context><cwd>/x</cwd></environment_context>\n<user_instructions a="b">Be brief.</user_instructions>\nMend the parser',
      ),
    ],
    'Mend-the-parser',
  ],
  [
    'the first message that a person wrote',
    [user('<environment_context>/x</environment_context>'), user('Mend the parser')],
    'Mend-the-parser',
  ],
  [
    'what comes after a summary',
    [user('Summary of the session: all is read.'), user('Go on with five')],
    'Go-on-with-five',
  ],
  ['a summary where nothing else is said', [user('Summary: pumps were read.')], 'Summary-pumps-were-read'],
  [
    'a block where nothing else is said',
    [user('<system-reminder>Be brief.</system-reminder>')],
    'system-reminder-Be-brief-system-reminder',
  ],
  ['a block that does not end', [user('<system-reminder>Be brief.')], 'system-reminder-Be-brief'],
  ['a question about a tag', [user('<b>bold</b> is what?')], 'b-bold-b-is-what'],
] as const)('a conversation is called after %s', (_what, messages, name) => {
  expect(nameOfMessages(messages)).toBe(name);
});

test('a text of many open tags takes time that grows with its length', () => {
  const text = '<a-b>'.repeat(200_000);
  expect(nameOfMessages([user(text)])).toBe('a-b-a-b-a-b');
});
