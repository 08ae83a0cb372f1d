import { joinBytes, type WideJson } from '@stemma/canonical';
import { awsMessage, awsMessages } from '@stemma/model-apis';
import { openRedactor } from '@stemma/redaction';
import { describe, expect, test } from 'vitest';
import { redactedResponse } from '../src/redacted-body.ts';

const KEY = `sk-ant-api03-${'aB3'.repeat(31)}`;
const redactor = openRedactor({});
const event = (type: string, payload: WideJson): Uint8Array =>
  awsMessage({
    headers: { ':event-type': type, ':message-type': 'event' },
    payload: Buffer.from(JSON.stringify(payload)),
  });
const delta = (text: string): Uint8Array =>
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { text } });
const end = event('messageStop', { stopReason: 'end_turn' });
const chunk = (text: string): Uint8Array =>
  event('chunk', { bytes: Buffer.from(JSON.stringify({ completion: text })).toString('base64') });

describe('a stream of AWS', () => {
  test('without a secret is kept as it came', () => {
    const stream = joinBytes([delta('Hello é'), end]);
    expect(redactedResponse(stream, redactor, undefined)).toEqual(stream);
  });

  test('is kept without the secret of an event, and every other event keeps its bytes', () => {
    const kept = redactedResponse(joinBytes([delta(`The key is ${KEY}.`), end]), redactor, undefined);
    if (!(kept instanceof Uint8Array)) throw new Error('nothing is kept');
    const [first, last] = [...awsMessages(kept)];
    expect(Buffer.from(first?.payload ?? []).toString()).toContain('The key is ');
    expect(Buffer.from(kept).toString()).not.toContain(KEY);
    expect(last?.bytes).toEqual(end);
  });

  test.each([
    ['whose secret is cut over two events', joinBytes([delta(KEY.slice(0, 40)), delta(KEY.slice(40)), end])],
    ['whose secret is in the base64 of a chunk', joinBytes([chunk(KEY), end])],
    ['that is cut off', joinBytes([delta('Hello'), end]).subarray(0, -3)],
  ])('%s is not kept', (_, stream) => {
    expect(redactedResponse(stream, redactor, undefined)).toBeNull();
  });
});
