import type { WatchMessage } from '@stemma/queries';
import { type Home, named, open, say, send, start, temporaryHome } from '@stemma/test-kit/home';
import { expect, test } from 'vitest';

/** The messages of a watch, one at a time. */
const watching = (home: Home, name: string, selector: string, after?: string) => {
  const stop = new AbortController();
  const messages = home.queries.questions
    .watch(name, selector, { signal: stop.signal, ...(after === undefined ? {} : { after }) })
    [Symbol.asyncIterator]();
  const next = async (): Promise<WatchMessage> => {
    const { value, done } = await messages.next();
    if (done === true) throw new Error('the watch has ended');
    return value;
  };
  return { next, stop: () => stop.abort() };
};

const brief = ({ position, first, ids, added, removed }: WatchMessage) => ({
  at: position.label,
  first,
  ids,
  added,
  removed,
});

test(
  'a watch gives the result and then only its changes, and evaluates nothing for unrelated frames',
  { tags: ['context-tree§6:pure'] },
  async () => {
    using at = temporaryHome();
    const home = await open(at.directory);
    await start(home, 'a');
    await start(home, 'b');
    await send(home, 'a', 'one', [
      { op: 'insert', parent: '^ah', node: { id: 'x', nodeType: 'cb', role: 'tool', content: '1' } },
    ]);
    const watch = watching(home, 'a', ".cb[role='tool']");
    expect(brief(await watch.next())).toEqual({
      at: '@s1',
      first: true,
      ids: ['x'],
      added: ['x'],
      removed: [],
    });
    await say(home, 'b', 'another history');
    await say(home, 'a', 'another role');
    await send(home, 'a', 'named', [{ op: 'name', name: 'here' }]);
    await send(home, 'a', 'two', [
      { op: 'insert', parent: '^ah', node: { id: 'y', nodeType: 'cb', role: 'tool', content: '2' } },
    ]);
    expect(brief(await watch.next())).toEqual({
      at: '@s4',
      first: false,
      ids: ['x', 'y'],
      added: ['y'],
      removed: [],
    });
    await send(home, 'a', 'three', [{ op: 'remove', id: 'y' }]);
    expect(brief(await watch.next())).toMatchObject({ at: '@s5', ids: ['x'], added: [], removed: ['y'] });
    watch.stop();
    await home.close();
  },
);

test('a watch of @t0 reports changes at new snapshots only, and matches nothing before the first snapshot', async () => {
  using at = temporaryHome();
  const home = await open(at.directory);
  await start(home, 'a');
  const watch = watching(home, 'a', '@t0 .cb');
  expect(brief(await watch.next())).toEqual({ at: '@s0', first: true, ids: [], added: [], removed: [] });
  await send(home, 'a', 'open', [
    { op: 'insert', parent: '^ah', node: { id: 'x', nodeType: 'cb', content: '1' } },
  ]);
  await send(home, 'a', 'close', [{ op: 'commit' }]);
  expect(brief(await watch.next())).toMatchObject({ at: '@c1', added: ['x'] });
  watch.stop();
  await send(home, 'a', 'draft', [
    { op: 'insert', parent: '^ah', node: { id: 'y', nodeType: 'cb', content: '2' } },
  ]);
  // The draft has no depths: they are those of a snapshot.
  const depths = watching(home, 'a', '@t0 .cb[depth=1]');
  expect(brief(await depths.next())).toMatchObject({ at: '@c1', ids: ['x'] });
  depths.stop();
  await home.close();
});

test('a watch resumed after a cursor reports at once what has changed since, and a cursor of another log is refused', async () => {
  using at = temporaryHome();
  const home = await open(at.directory);
  await start(home, 'a');
  const first = watching(home, 'a', '.cb');
  const { cursor } = await first.next();
  first.stop();
  await send(home, 'a', 'two', [
    { op: 'insert', parent: '^ah', node: { id: 'y', nodeType: 'cb', content: '2' } },
  ]);
  const second = watching(home, 'a', '.cb', cursor);
  expect(brief(await second.next())).toMatchObject({ first: false, ids: ['y'], added: ['y'] });
  second.stop();
  for (const wrong of ['', 'nothing', 'other:0~0.0', `${cursor}9999999`])
    await expect(watching(home, 'a', '.cb', wrong).next()).rejects.toMatchObject({ code: 'E_STREAM_GONE' });
  await home.close();
});

test('a watch of a position that never changes, or of an invalid selector, is refused with a code', async () => {
  using at = temporaryHome();
  const home = await open(at.directory);
  await start(home, 'a');
  for (const [selector, code] of [
    ['@c1 .cb', 'E_USAGE'],
    ['@* .cb', 'E_USAGE'],
    ['@s0 .cb', 'E_USAGE'],
    ['.cb[depth=1]', 'E_SELECTOR_INVALID'],
    ['.cb[', 'E_SELECTOR_INVALID'],
  ] as const)
    await expect(watching(home, 'a', selector).next()).rejects.toMatchObject({ code });
  await expect(watching(home, 'nobody', '.cb').next()).rejects.toMatchObject({ code: 'E_HISTORY_NOT_FOUND' });
  expect((await home.find('a')).history).toBe(named('a'));
  await home.close();
});
