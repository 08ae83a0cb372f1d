import { openHome } from '@stemma/home';
import { sized } from '@stemma/test-kit';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryHome } from './small-home.ts';

const TURNS = sized(80, 1_000);
/** What the files of a home take beside its calls, at most: blocks that are reserved, locks, empty tables. */
const EMPTY = 600_000;

const by = { recorder: 'proxy' };

/** A text of 1 KB that no other one resembles. */
const textOf = (seed: number): string => {
  let state = seed + 1;
  let text = '';
  while (text.length < 1_024) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += `${(state >>> 8).toString(36)} `;
  }
  return text.slice(0, 1_024);
};

const ANSWERS: Readonly<Record<string, (content: string) => string>> = {
  'as JSON': (content) =>
    JSON.stringify({ id: 'c', choices: [{ index: 0, message: { role: 'assistant', content } }] }),
  streamed: (content) =>
    (content.match(/.{1,5}/gs) ?? [])
      .map((piece) => ({ id: 'c', choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] }))
      .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
      .concat('data: [DONE]\n\n')
      .join(''),
};

const onDisk = (path: string): number => {
  const found = lstatSync(path);
  return found.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + onDisk(join(path, name)), 0)
    : found.blocks * 512;
};

test.for(Object.entries(ANSWERS))(
  'a thousand calls that bring 2 KB each, %s, take at most 8 MB with all their bytes [calls §2.6]',
  { timeout: 600_000 },
  async ([, bodyOf]) => {
    using at = temporaryHome();
    const home = await openHome({ directory: at.directory, create: true });
    const messages: { role: string; content: string }[] = [];
    const bodies: (readonly [request: Buffer, response: Buffer])[] = [];
    let history = '';
    for (let turn = 0; turn < TURNS; turn++) {
      messages.push({ role: 'user', content: textOf(2 * turn) });
      const request = Buffer.from(JSON.stringify({ model: 'm', messages }));
      const answer = { role: 'assistant', content: textOf(2 * turn + 1) };
      const response = Buffer.from(bodyOf(answer.content));
      const { branch } = await home.recordRequest({
        ...{ id: `call-${turn}`, by, messages, within: { run: 'r' } },
        facts: { api: 'openai.chat', model: 'm', parameters: {}, tools: null, request },
      });
      await home.finishCall(branch, {
        ...{ by, attemptId: `call-${turn}`, status: 'answered', httpStatus: 200, finishReason: 'stop' },
        ...{ model: 'm', usage: null, firstByteMs: 1, durationMs: 2, error: null, answer, response },
      });
      ({ history } = branch);
      messages.push(answer);
      bodies.push([request, response]);
    }
    for (const turn of [0, TURNS / 2, TURNS - 1]) {
      const [request, response] = bodies[turn] ?? [];
      const read = (which: 'request' | 'response') => home.calls.body(history, `call-${turn}`, which);
      expect(Buffer.from(await read('request')).equals(request as Buffer)).toBe(true);
      expect(Buffer.from(await read('response')).equals(response as Buffer)).toBe(true);
    }
    await home.close();
    expect(onDisk(at.directory)).toBeLessThanOrEqual(8_000 * TURNS + EMPTY);
  },
);
