import { branchRefOf } from '@stemma/history-store';
import { historyId } from '@stemma/history';
import { openHome, temporaryHome } from '@stemma/test-kit/home';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test(
  'what a call costs follows from a file that one may replace, and is never guessed',
  { tags: ['calls§1.6'] },
  async () => {
    using at = temporaryHome();
    const home = await openHome({ directory: at.directory, create: true });
    const history = historyId('talk', '');
    const branch = branchRefOf(history, 0);
    const by = { recorder: 'agent' };
    await home.submit({ id: 'start', history, branchId: 0, by, steps: [{ op: 'start', name: 'talk' }] });
    const facts = { api: 'openai.chat', model: 'm-1', parameters: {}, tools: null, request: null } as const;
    await home.calls.recordCall(branch, { id: 'c', by, messages: [{ role: 'user', content: 'Hi' }], facts });
    await home.calls.finishCall(branch, {
      ...{ by, attemptId: 'c', status: 'answered', httpStatus: 200, finishReason: 'stop', model: 'm-1-2026' },
      usage: { input: 1_000, output: 200, cached: 100, cacheWrite: null, reasoning: null },
      ...{ firstByteMs: 1, durationMs: 2, error: null, answer: null, response: null },
    });
    const cost = async (): Promise<unknown> => (await home.calls.list(branch)).attempts[0]?.cost;
    expect(await cost()).toBe(null);
    const file = join(at.directory, 'prices.json');
    const write = (models: object): void => writeFileSync(file, JSON.stringify({ currency: 'USD', models }));
    write({ other: { input: '1', output: '2' } });
    expect(await cost()).toBe(null);
    // Tokens of a cache have no price here.
    write({ 'm-*': { input: '1', output: '2' } });
    expect(await cost()).toBe(null);
    write({ 'm-*': { input: '1', output: '2.5', cached: '0.1' } });
    expect(await cost()).toEqual({ amount: '0.00141', currency: 'USD' });
    expect((await home.calls.find(history, 'c')).cost).toEqual({ amount: '0.00141', currency: 'USD' });
    // What is written to a cache for an hour is kept apart, and has its own price.
    await home.submit({ id: 'commit', history, branchId: 0, by, steps: [{ op: 'commit' }] });
    await home.calls.recordCall(branch, { id: 'd', by, messages: [{ role: 'user', content: 'Ho' }], facts });
    await home.calls.finishCall(branch, {
      ...{ by, attemptId: 'd', status: 'answered', httpStatus: 200, finishReason: 'stop', model: 'm-1' },
      usage: { input: 1_000, output: 0, cached: 0, cacheWrite: 900, reasoning: null, cacheWrite1h: 300 },
      ...{ firstByteMs: 1, durationMs: 2, error: null, answer: null, response: null },
    });
    write({ 'm-*': { input: '1', output: '1', cache_write: '1.25', cache_write_1h: '2' } });
    expect(await home.calls.find(history, 'd')).toMatchObject({
      usage: { cacheWrite: 900, cacheWrite1h: 300 },
      cost: { amount: '0.00145', currency: 'USD' },
    });
    writeFileSync(file, '{"currency": "USD"');
    await expect(cost()).rejects.toMatchObject({ code: expect.stringMatching(/^E_INPUT_/) });
    // Nothing else needs it.
    expect(await home.read.histories()).toHaveLength(1);
    await home.close();
    const named = await openHome({ directory: at.directory, prices: join(at.directory, 'none.json') });
    await expect(named.calls.list(branch)).rejects.toMatchObject({ code: 'E_IO' });
    await named.close();
  },
);
