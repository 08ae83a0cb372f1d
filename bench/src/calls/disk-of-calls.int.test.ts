import { openHome } from '@stemma/home';
import { sized } from '@stemma/test-kit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { said } from '../growth/conversation.ts';
import { ANSWERS } from './answers.ts';
import { callId, recordConversation, requestOf } from './record-conversation.ts';

const TURNS = sized(80, 1_000);
/** What files of a home take with few calls, at most. */
const EMPTY = 690_000;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-calls-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test.for(Object.keys(ANSWERS) as (keyof typeof ANSWERS)[])(
  'a thousand calls that bring 2 KB each, %s, take at most 8 MB with all their bytes',
  { tags: ['long', 'calls§2.6'], timeout: 600_000 },
  async (form) => {
    const { bytes } = await recordConversation({ directory, turns: TURNS, form });
    expect(bytes).toBeLessThanOrEqual(8_000 * TURNS + (TURNS < 1_000 ? EMPTY : 0));
    const home = await openHome({ directory });
    for (const turn of [1, TURNS / 2, TURNS]) {
      const history = await home.calls.locate(callId(turn));
      const read = (which: 'request' | 'response') => home.calls.body(history, callId(turn), which);
      expect(Buffer.from(await read('request')).equals(requestOf(turn))).toBe(true);
      const response = ANSWERS[form](turn, said(turn).answer);
      expect(Buffer.from(await read('response')).equals(response)).toBe(true);
    }
    await home.close();
  },
);
