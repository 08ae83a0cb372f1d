import { expect, it } from 'vitest';
import { openHeldCalls } from '../src/held-calls.ts';

it('of all calls that ended processes left, the rows are asked once which were held; those are released as lost', async () => {
  const held = { history: 'h', branchId: 0, attemptId: 'call 7', until: 0 };
  let [caughtUp, reads] = [0, 0];
  const submitted: unknown[] = [];
  const home = {
    catchUp: async () => {
      // The database is away at first.
      if (caughtUp++ === 0) throw new Error('away');
    },
    submit: async (command: unknown) => void submitted.push(command),
  };
  const projection = {
    read: async () => {
      reads++;
      return [held];
    },
  };
  const calls = openHeldCalls(home as never, projection as never);
  await expect(calls.lose('call 0')).rejects.toThrow('away');
  await Promise.all(Array.from({ length: 2_000 }, (_, i) => calls.lose(`call ${i}`)));
  expect([caughtUp, reads]).toEqual([2, 1]);
  expect(submitted).toEqual([
    expect.objectContaining({
      history: 'h',
      steps: [{ op: 'release_call', attemptId: 'call 7', how: 'lost', message: null }],
    }),
  ]);
  calls.close();
});
