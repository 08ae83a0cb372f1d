import { openRecorder } from '@stemma/recorder';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test(
  'a recorder of an actor goes on with a model and asks a call again, in a home of its own process',
  { tags: ['calls§6.4', 'calls§6.6'] },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stemma-sdk-runs-'));
    const options = { home: join(folder, 'home'), history: 'talk', actor: 'ann' };
    const ctx = await openRecorder(options);
    await ctx.recordCall([{ role: 'user', content: 'The sea is calm. Is it?' }]);
    const went = await ctx.continue({ mind: 'offline', set: { seed: 7 } });
    expect(went).toMatchObject({
      ended: 'done',
      forked: false,
      calls: [{ status: 'answered', label: '@c1' }],
    });
    const asked = await ctx.retry('@c1', { times: 2 });
    expect(asked.answers).toMatchObject([
      { isSameText: true, request: 'recorded' },
      { isSameText: true, request: 'recorded' },
    ]);
    await ctx.close();
    const agent = await openRecorder({ home: options.home, history: 'talk', recorder: 'agent' });
    await expect(agent.continue({ mind: 'offline' })).rejects.toMatchObject({ code: 'E_ACTOR_REQUIRED' });
    await agent.close();
    rmSync(folder, { recursive: true, force: true });
  },
);
