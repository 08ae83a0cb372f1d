import { type Home, openHome } from '@stemma/test-kit/home';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const by = { recorder: 'proxy' };
const question = { role: 'user', content: 'Which day is it?' };
const answer = { role: 'assistant', content: 'Monday.' };
const end = {
  status: 'answered',
  ...{ httpStatus: 200, finishReason: 'stop', model: 'm', usage: null, error: null },
  ...{ firstByteMs: 1, durationMs: 2, answer, response: Buffer.from('{}') },
} as const;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-killed-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const withHome = async <T>(use: (home: Home) => Promise<T>): Promise<T> => {
  const home = await openHome({ directory, create: true });
  try {
    return await use(home);
  } finally {
    await home.close();
  }
};

const record = (
  home: Home,
  id: string,
  messages: readonly (typeof question)[],
  isWhole: boolean,
): ReturnType<Home['calls']['recordRequest']> =>
  home.calls.recordRequest({
    ...{ id, by, messages, within: { run: 'r' } },
    facts: {
      ...{ api: 'openai.chat', model: 'm', parameters: {}, tools: null },
      request: Buffer.from(JSON.stringify(messages)),
      ...(isWhole && { end }),
    },
  });

test.for([
  ['begins a conversation', [{ ...question, content: 'And which month?' }]],
  ['goes on', [question, answer, { ...question, content: 'And which month?' }]],
] as const)(
  'a call that %s, and that a killed process recorded whole before the end of the log was known, is known by its beginning',
  { tags: ['calls§7.2'] },
  async ([, messages]) => {
    await withHome((home) => record(home, 'call-1', [question], true).then(() => home.catchUp()));
    const before = join(directory, 'before');
    for (const part of ['log/lock', 'rows'])
      cpSync(join(directory, part), join(before, part), { recursive: true });
    const first = await withHome((home) => record(home, 'call-2', messages, true));
    // The frames are in the file, and nobody was told so.
    for (const part of ['log/lock', 'rows']) {
      rmSync(join(directory, part), { recursive: true });
      cpSync(join(before, part), join(directory, part), { recursive: true });
    }
    await withHome(async (home) => {
      const placed = await record(home, 'call-2', messages, false);
      expect(placed).toMatchObject({ branch: first.branch, isEnded: true });
    });
  },
);
