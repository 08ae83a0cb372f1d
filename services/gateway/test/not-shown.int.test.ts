import { recordExchange } from '@stemma/exchanges';
import { branchRefOf } from '@stemma/history-store';
import { openHome } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const user = { role: 'user', content: 'Hi' };

test.each([
  ['chat/completions', { messages: [user], seed: 1 }, null],
  ['responses', { input: 'Hi', previous_response_id: null }, null],
  ['responses', { input: 'Hi', previous_response_id: 'resp_1' }, 'previous_response_id names'],
  ['responses', { prompt: { id: 'p' }, conversation: 'conv_1' }, 'conversation and prompt name '],
  ['chat/completions', { messages: ['Hi'] }, 'no reader understands the request'],
])(
  'a call to %s with %j says why its thread is not all that was shown',
  { tags: ['calls§1.8'] },
  async (path, body, why) => {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-not-shown-'));
    const home = await openHome({ directory, create: true });
    try {
      const bytes = Buffer.from(JSON.stringify({ model: 'm', ...body }));
      await recordExchange(home, {
        ...{ id: 'c', by: { recorder: 'test' }, scope: { name: 'talk' }, end: null },
        request: { form: 'wire', method: 'POST', path: `/v1/${path}`, coding: null, body: bytes },
      });
      const { history } = branchRefOf((await home.find('talk')).history, 0);
      const { notShown } = await home.calls.find(history, 'c');
      expect(notShown).toEqual(why === null ? null : expect.stringContaining(why));
      expect(Buffer.from(await home.calls.body(history, 'c', 'request'))).toEqual(bytes);
    } finally {
      await home.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
