import { MAX_KEPT } from '@stemma/events';
import type { SteeredCall } from '@stemma/steering';
import { temporaryHome } from '@stemma/test-kit/home';
import { afterEach, expect, test, vi } from 'vitest';
import { openSteeredCalls } from '../src/steer-calls.ts';
import { ADA, assistant, contentsIn, open, openSteered, outgoing, sentBy, user } from './steered.ts';

afterEach(() => void vi.useRealTimers());

test(
  'what two observers insert is in every later call, in the order in which they did it; what nobody changed keeps its bytes',
  { tags: ['calls§5.1', 'calls§5.2'] },
  async () => {
    using at = temporaryHome();
    const { open: openOne, start, intervene } = await openSteered(at.directory);
    const branch = await start('talk');
    const [steering, other] = [openOne(), openOne()];
    const list = [user('one')];
    const first = outgoing('call 1', branch, list);
    expect(await sentBy(steering, first)).toBe(first.plain.toString());
    await intervene(branch, 'ada', { op: 'inject', text: 'by ada' });
    await intervene(branch, 'ben', { op: 'inject', text: 'by ben' });
    list.push(assistant('1'), user('two'));
    const second = await sentBy(other, outgoing('call 2', branch, list));
    expect(contentsIn(second)).toEqual(['one', '1', 'two', 'by ada', 'by ben']);
    list.push(assistant('2'), user('three'));
    const third = await sentBy(steering, outgoing('call 3', branch, list));
    expect(contentsIn(third)).toEqual(['one', '1', 'two', 'by ada', 'by ben', '2', 'three']);
    for (const message of list) expect(third).toContain(JSON.stringify(message, null, 1));
  },
);

test(
  'the request that came is recorded beside the one that went, with who made each difference',
  { tags: ['calls§5.2'] },
  async () => {
    using at = temporaryHome();
    const { open: openOne, start, intervene, eventsOf } = await openSteered(at.directory);
    const branch = await start('talk');
    const steering = openOne();
    await sentBy(steering, outgoing('call 1', branch, [user('one')]));
    const injected = await intervene(branch, 'ada', { op: 'inject', text: 'by ada' });
    const call = outgoing('call 2', branch, [user('one'), assistant('1')]);
    await sentBy(steering, call);
    const steered = (await eventsOf(branch)).filter((event) => event.type === 'CallSteered');
    expect(steered).toHaveLength(1);
    expect(steered[0]).toMatchObject({
      request: { size: call.plain.length },
      changes: [{ what: 'inserted', seq: injected.seq }],
      unsteered: null,
    });
  },
);

test.for([
  ['is not known', null],
  ['was too large to be kept', { sha256: '9'.repeat(64), size: MAX_KEPT + 1 }],
] as const)(
  'a change goes out behind a call whose request %s: there is no body to copy from, and that is all',
  { tags: ['calls§5.1', 'calls§2.3'] },
  async ([, request]) => {
    using at = temporaryHome();
    const { open: openOne, start, intervene, requests } = await openSteered(at.directory);
    const branch = await start('talk');
    const { history } = branch;
    await requests.record({
      ...{ id: 'call 1', by: { recorder: 'proxy' }, messages: [user('one')], within: { history } },
      facts: { api: 'openai.chat', model: 'm', parameters: {}, tools: null, request },
    });
    await intervene(branch, 'ada', { op: 'inject', text: 'by ada' });
    const call = outgoing('call 2', branch, [user('one'), assistant('1'), user('two')]);
    expect(contentsIn(await sentBy(openOne(), call))).toEqual(['one', '1', 'two', 'by ada']);
  },
);

test(
  'an agent that changes the message which an observer replaced wins, and it is said',
  { tags: ['calls§5.3'] },
  async () => {
    using at = temporaryHome();
    const { open: openOne, start, intervene, home, warnings } = await openSteered(at.directory);
    const branch = await start('talk');
    const steering = openOne();
    await sentBy(
      steering,
      outgoing('call 1', branch, [{ role: 'system', content: 'Be brief.' }, user('one')]),
    );
    const { ids } = await home.select(branch, '@t0 .cb[role="system"]');
    await intervene(branch, 'ada', { op: 'replace', id: ids[0] as string, set: { content: 'Be kind.' } });
    const replaced = [{ role: 'system', content: 'Be brief.' }, user('one'), assistant('1'), user('two')];
    expect(contentsIn(await sentBy(steering, outgoing('call 2', branch, replaced)))[0]).toBe('Be kind.');
    expect(warnings).toEqual([]);
    const changed = [{ role: 'system', content: 'Be long.' }, ...replaced.slice(1), assistant('2')];
    expect(contentsIn(await sentBy(steering, outgoing('call 3', branch, changed)))[0]).toBe('Be long.');
    expect(warnings).toEqual([expect.stringContaining('the agent has changed the same message')]);
  },
);

test(
  'a call that breakpoints hold goes on with what its branch shows when it is released, once',
  { tags: ['calls§5.7', 'calls§5.8'] },
  async () => {
    using at = temporaryHome();
    const { open: openOne, start, intervene, projector } = await openSteered(at.directory);
    const branch = await start('talk');
    const [steering, ada, ben] = [openOne(), openOne(), openOne()];
    await steering.addBreakpoint(branch, { model: 'm*', timeout_ms: 60_000, then: 'abort' }, ADA, 'every');
    const going = sentBy(steering, outgoing('call 1', branch, [user('one')]));
    await vi.waitFor(async () => {
      await projector.catchUp();
      expect(await ada.held(branch.history)).toHaveLength(1);
    });
    await intervene(branch, 'ada', { op: 'inject', text: 'by ada' });
    const outcomes = await Promise.allSettled([
      ada.release(branch.history, 'call 1', { abort: false }, { actor: 'ada' }),
      ben.release(branch.history, 'call 1', { abort: true, message: 'stop' }, { actor: 'ben' }),
    ]);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toEqual([
      expect.objectContaining({ reason: expect.objectContaining({ code: 'E_CALL_NOT_HELD' }) }),
    ]);
    const [, ofBen] = outcomes;
    if (ofBen.status === 'rejected') expect(contentsIn(await going)).toEqual(['one', 'by ada']);
    else await expect(going).rejects.toThrow('stop');
    const [held] = await ben.held(branch.history, { all: true });
    expect(held?.released).toMatchObject(
      ofBen.status === 'rejected'
        ? { how: 'edited', by: 'ada' }
        : { how: 'aborted', by: 'ben', message: 'stop' },
    );
    await expect(ada.release(branch.history, 'call 1', { abort: false }, ADA)).rejects.toMatchObject({
      code: 'E_CALL_NOT_HELD',
    });
    for (const each of [steering, ada, ben]) each.close();
  },
);

test.for([
  ['go-on', 'go-on', 'sent'],
  ['go-on', 'abort', 'ended'],
] as const)(
  'of breakpoints that say %s and %s, a call that nobody releases is %s when the longer time is over',
  { tags: ['calls§5.7'] },
  async ([first, second, kind]) => {
    using at = temporaryHome();
    const { open: openOne, start } = await openSteered(at.directory);
    const branch = await start('talk');
    const steering = openOne();
    await steering.addBreakpoint(branch, { cycle: 1, timeout_ms: 1, then: first }, ADA);
    await steering.addBreakpoint(branch, { model: 'm', timeout_ms: 150, then: second }, ADA);
    await steering.addBreakpoint(branch, { model: 'another', timeout_ms: 60_000, then: 'abort' }, ADA);
    const became = await steering.call(outgoing('call 1', branch, [user('one')]), open, (work) => work());
    expect(became.kind).toBe(kind);
    const [held] = await steering.held(branch.history, { all: true });
    expect(held).toMatchObject({
      breakpoints: ['b1', 'b2'],
      then: second,
      released: { how: 'timed out', by: null },
    });
    expect(held?.released?.at).toBeGreaterThanOrEqual(0);
    steering.close();
  },
);

test(
  'a call whose client is gone while it is held does not go out, and its release says why',
  { tags: ['calls§5.8'] },
  async () => {
    using at = temporaryHome();
    const { open: openOne, start } = await openSteered(at.directory);
    const branch = await start('talk');
    const [steering, other] = [openOne(), openOne()];
    await steering.addBreakpoint(branch, { cycle: 1, timeout_ms: 60_000, then: 'go-on' }, ADA);
    const gone = new AbortController();
    const going = steering.call(outgoing('call 1', branch, [user('one')]), gone.signal, (work) => work());
    await vi.waitFor(async () => expect(await other.held(branch.history)).toHaveLength(1));
    gone.abort();
    expect(await going).toMatchObject({ kind: 'ended', how: 'cancelled' });
    await vi.waitFor(async () =>
      expect((await other.held(branch.history, { all: true }))[0]?.released).toMatchObject({
        how: 'cancelled',
      }),
    );
    expect(await other.held(branch.history)).toEqual([]);
    for (const each of [steering, other]) each.close();
  },
);

test('calls of one conversation are prepared in the order in which they came; those of another do not wait for them', async () => {
  using at = temporaryHome();
  const { open: openOne, start, requests } = await openSteered(at.directory);
  const [talk, other] = [await start('talk'), await start('other')];
  const began: string[] = [];
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  const steering = openOne({
    requests: {
      ...requests,
      find: async (call) => {
        began.push(call.id);
        if (call.id === 'call 1') await gate;
        return requests.find(call);
      },
    },
  });
  const first = sentBy(steering, outgoing('call 1', talk, [user('one')]));
  const second = sentBy(steering, outgoing('call 2', talk, [user('one'), assistant('1'), user('two')]));
  await sentBy(steering, outgoing('call 3', other, [user('one')]));
  expect(began).toEqual(['call 1', 'call 3']);
  go();
  await Promise.all([first, second]);
  expect(began).toEqual(['call 1', 'call 3', 'call 2']);
});

test(
  'a call waits three seconds for a log that is away, and goes out as it came; those behind it do not wait again',
  { tags: ['calls§5.5'] },
  async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const never = new Promise<never>(() => undefined);
    const calls = { asked: 0 };
    const parts = { requests: { find: () => (calls.asked++, never) } };
    const call = openSteeredCalls(parts as never);
    const branch = { history: 'h', branchId: 0 } as never;
    const becomes = async (id: string): Promise<SteeredCall | 'waits'> => {
      const became = call(outgoing(id, branch, [user('x'.repeat(10_240))]), open, (work) => work());
      await vi.advanceTimersByTimeAsync(0);
      return Promise.race([became, Promise.resolve('waits' as const)]);
    };
    const first = call(outgoing('call 1', branch, [user('x'.repeat(10_240))]), open, (work) => work());
    // One more millisecond for each kilobyte that is written.
    await vi.advanceTimersByTimeAsync(3_009);
    expect(await Promise.race([first, Promise.resolve('waits')])).toBe('waits');
    await vi.advanceTimersByTimeAsync(2);
    const unsteered = { kind: 'unsteered', reason: 'the log does not answer' };
    expect(await first).toEqual(unsteered);
    expect(await becomes('call 2')).toEqual(unsteered);
    expect(calls.asked).toBe(1);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await becomes('call 3')).toBe('waits');
    expect(calls.asked).toBe(2);
  },
);
