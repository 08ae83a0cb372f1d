import { expect, test } from 'vitest';
import type { Waiting } from '../../src/proxy/entry.ts';
import { leftCalls } from '../../src/proxy/left-over.ts';
import { providerCallId } from '../../src/proxy/provider-call.ts';

const entry = (kind: Waiting['kind'], id: string): Waiting => ({
  kind,
  id,
  ref: { bytes: new Uint8Array() },
});

test('a call without messages is recorded whole, whatever began between its start and its end', () => {
  const id = providerCallId('1');
  const [start, end] = [entry('started', id), entry('ended', id)];
  const [chat, chatEnd] = [entry('started', 'call-1'), entry('ended', 'call-1')];
  expect(leftCalls([start, chat, end, chatEnd])).toEqual([
    { start, end },
    { start: chat, end: chatEnd },
  ]);
  expect(leftCalls([start, chat])).toEqual([{ start }, { start: chat }]);
});
