import { expect, test } from 'vitest';
import type { CallSink, RecordedEntry } from '../../src/proxy/call-sink.ts';
import type { EntryRef, StartedEntry } from '../../src/proxy/entry.ts';
import { recordLater } from '../../src/proxy/record-later.ts';

const RECORDED: RecordedEntry = { branch: { history: 'h', branchId: 0 } };

/** A sink that answers when it is told to, and remembers what it got, by the bytes. */
const openSlowSink = () => {
  const got: string[] = [];
  const answers: (() => void)[] = [];
  const sink: CallSink = {
    record: (ref, answer, how) => {
      got.push([ref, how?.end].flatMap((each) => (each === undefined ? [] : textOf(each))).join('+'));
      answers.push(() => answer(RECORDED));
    },
    mayBeSteered: () => true,
    steer: () => {
      got.push('steered');
      return Promise.resolve({ kind: 'untouched' });
    },
  };
  return { sink, got, answer: (): void => answers.shift()?.() };
};

const textOf = (ref: EntryRef): string => ('bytes' in ref ? Buffer.from(ref.bytes).toString() : ref.file);
const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => String(from + i));
const refOf = (name: string): { readonly bytes: Uint8Array } => ({ bytes: Buffer.from(name) });

test('of calls that come faster than they are recorded only some are with the recorder, and all get there in their order', () => {
  const { sink, got, answer } = openSlowSink();
  const later = recordLater(sink, 0);
  const recorded: string[] = [];
  for (const name of names(0, 500)) later.record(refOf(name), () => recorded.push(name));
  const most = got.length;
  expect(most).toBeLessThan(500);
  answer();
  expect(got).toEqual(names(0, most + 1));
  for (let i = 1; i < 500; i++) answer();
  expect(got).toEqual(names(0, 500));
  expect(recorded).toEqual(names(0, 500));
});

test('a call that may be steered is sent on behind all that was noted before it, whoever waits', async () => {
  const { sink, got, answer } = openSlowSink();
  const later = recordLater(sink, 60_000);
  for (const name of names(0, 500)) later.record(refOf(name), () => undefined);
  expect(got).toEqual([]);
  const started: StartedEntry = {
    ...{ kind: 'started', id: 'call', place: null, method: 'POST', path: '/v1/chat/completions' },
    ...{ coding: null, whole: true },
  };
  await later.steer(started, Buffer.from('{}'), new AbortController().signal);
  expect(got).toEqual([...names(0, 500), 'steered']);
  // There is room again only when as many are recorded as are too many.
  later.record(refOf('next'), () => undefined);
  later.record(refOf('left'), () => undefined, { left: true });
  expect(got.at(-1)).toBe('left');
  answer();
  expect(got.at(-1)).toBe('left');
  later.close();
});

test('a start that still waits when its end is noted takes it along; one that the recorder has does not', () => {
  const { sink, got, answer } = openSlowSink();
  const later = recordLater(sink, 0);
  const queued = names(0, 200).map((name) => later.record(refOf(name), () => undefined));
  const most = got.length;
  expect(queued.map((entry) => entry.isSent())).toEqual(names(0, 200).map((_, i) => i < most));
  for (const [i, entry] of queued.entries()) if (!entry.isSent()) entry.addEnd(refOf(`end of ${i}`));
  for (let i = 0; i < 200; i++) answer();
  expect(got).toEqual([...names(0, most), ...names(most, 200).map((name) => `${name}+end of ${name}`)]);
});
