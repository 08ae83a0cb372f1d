import { fail, isStemmaError } from '@stemma/errors';
import { expect, it } from 'vitest';
import { inGeneration, openRepair } from '../src/repair.ts';

const damaged = (detail = {}): Error => fail('E_ROWS_DAMAGED', 'damaged', detail);
const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: unknown) => (isStemmaError(error) ? error.code : error),
  );
/** Work that meets damage so many times, then answers. */
const failing = (times: number) => {
  let left = times;
  return () => (left-- > 0 ? Promise.reject(damaged()) : Promise.resolve('done'));
};

it('a call that finds damaged rows runs once more after the rows are rebuilt', async () => {
  const seen: unknown[] = [];
  const repair = openRepair({ rebuild: (damage) => Promise.resolve(void seen.push(damage.message)) });
  expect(await codeOf(repair.run(failing(0)))).toBe('done');
  expect(seen).toEqual([]);
  expect(await codeOf(repair.run(failing(1)))).toBe('done');
  expect(seen).toEqual(['damaged']);
  expect(await codeOf(repair.run(failing(2)))).toBe('E_ROWS_DAMAGED');
  expect(seen).toHaveLength(2);
});

it('other errors are thrown unchanged, and nothing is rebuilt', async () => {
  const repair = openRepair({ rebuild: () => Promise.reject(new Error('not asked for')) });
  expect(await codeOf(repair.run(() => Promise.reject(fail('E_IO', 'the disk'))))).toBe('E_IO');
});

it('rows are rebuilt once for all readers that met the same damage, and no reader works meanwhile', async () => {
  const built = Promise.withResolvers<undefined>();
  let rebuilds = 0;
  let running = false;
  const repair = openRepair({
    rebuild: async () => {
      rebuilds++;
      running = true;
      await built.promise;
      running = false;
    },
  });
  const late = Promise.withResolvers<undefined>();
  let lateTries = 0;
  const first = repair.run(failing(1));
  const meanwhile = repair.run(failing(1));
  const slow = repair.run(async () => {
    if (lateTries++ > 0) return 'later';
    await late.promise;
    throw damaged();
  });
  await new Promise(setImmediate);
  expect([rebuilds, running]).toEqual([1, true]);
  const whileBuilding: boolean[] = [];
  const waiting = repair.run(() => Promise.resolve(void whileBuilding.push(running)));
  built.resolve(undefined);
  expect(await Promise.all([first, meanwhile])).toEqual(['done', 'done']);
  await waiting;
  expect(whileBuilding).toEqual([false]);
  // Its work began before the rows were built again: it met what is repaired already.
  late.resolve(undefined);
  expect(await slow).toBe('later');
  expect(rebuilds).toBe(1);
  expect(await repair.run(failing(1))).toBe('done');
  expect(rebuilds).toBe(2);
});

it('a reader with a deadline gets E_ROWS_BEHIND, and the rebuild goes on', async () => {
  const built = Promise.withResolvers<undefined>();
  const repair = openRepair({ rebuild: () => built.promise, timeout: 5 });
  expect(await codeOf(repair.run(failing(1)))).toBe('E_ROWS_BEHIND');
  expect(await codeOf(repair.run(failing(0)))).toBe('E_ROWS_BEHIND');
  built.resolve(undefined);
  await new Promise(setImmediate);
  expect(await codeOf(repair.run(failing(0)))).toBe('done');
});

it('the readers that wait for a rebuild get its error, and the next reader tries again', async () => {
  let tries = 0;
  const repair = openRepair({
    rebuild: () => (tries++ === 0 ? Promise.reject(fail('E_IO', 'full')) : Promise.resolve()),
  });
  expect(await codeOf(repair.run(failing(1)))).toBe('E_IO');
  expect(await codeOf(repair.run(failing(1)))).toBe('done');
});

it('damage gets the name of its generation if it has none; other errors stay unchanged', () => {
  expect(inGeneration(damaged({ table: 't' }), 'g')).toMatchObject({
    message: 'damaged',
    detail: { table: 't', generation: 'g' },
  });
  expect(inGeneration(damaged({ generation: 'own' }), 'g')).toMatchObject({ detail: { generation: 'own' } });
  const other = fail('E_IO', 'the disk');
  expect(inGeneration(other, 'g')).toBe(other);
});
