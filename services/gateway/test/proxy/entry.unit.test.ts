import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decodeEntry, decodeHead, encodeEntry, PREFIX, type ProxyEntry } from '../../src/proxy/entry.ts';

/** A journal as version 0.1.0 wrote it before heads were MessagePack. */
const EARLIER = Buffer.from(
  [
    'wgAAAA8AAAC58OQUGQIc63sia2luZCI6InN0YXJ0ZWQiLCJpZCI6ImExIiwicGxhY2UiOnsicnVuIjoiw5xidW5nIFwiN1wiIn0s',
    'Im1ldGhvZCI6IlBPU1QiLCJwYXRoIjoiL3YxL21lc3NhZ2VzIiwib3JpZ2luIjpudWxsLCJjb250ZW50VHlwZSI6ImFwcGxpY2F0',
    'aW9uL2pzb24iLCJzZW50QXQiOjE3NjQyNzAwMDAxMjMsImNvZGluZyI6bnVsbCwid2hvbGUiOnRydWV9eyJtZXNzYWdlcyI6W119',
    '+QAAAAAAAADqdDVUYST8hnsia2luZCI6InN0YXJ0ZWQiLCJpZCI6ImIyIiwicGxhY2UiOnsibmFtZSI6ImRlc2s6MyIsInN0ZWVy',
    'Ijp0cnVlfSwibWV0aG9kIjoiUE9TVCIsInBhdGgiOiIvdjEvY2hhdC9jb21wbGV0aW9ucyIsImNvZGluZyI6Imd6aXAiLCJ3aG9s',
    'ZSI6ZmFsc2UsInVua2VwdCI6eyJzaGEyNTYiOiJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFi',
    'YWJhYmFiYWJhYmFiYWJhYmFiIiwic2l6ZSI6OTAwMDAwMDAwMDB9fSUBAAAKAAAAsXyebxnK42F7ImtpbmQiOiJlbmRlZCIsImlk',
    'IjoiYTEiLCJtZXRob2QiOiJQT1NUIiwicGF0aCI6Ii92MS9tZXNzYWdlcyIsInN0YXR1cyI6ImFuc3dlcmVkIiwiaHR0cFN0YXR1',
    'cyI6MjAwLCJjb250ZW50VHlwZSI6InRleHQvZXZlbnQtc3RyZWFtIiwiY29kaW5nIjpudWxsLCJyZXRyeUFmdGVyIjpudWxsLCJ3',
    'aG9sZSI6dHJ1ZSwiZmlyc3RCeXRlTXMiOjEyLjM3NSwiZHVyYXRpb25NcyI6MTIzNC41LCJlcnJvciI6bnVsbCwiYnJhbmNoIjp7',
    'Imhpc3RvcnkiOiJydW4tw5xidW5nIiwiYnJhbmNoSWQiOjEwOTk1MTE2Mjc3NzZ9fWRhdGE6IHt9CgoJAQAAAAAAAMQzv8hT+RIO',
    'eyJraW5kIjoiZW5kZWQiLCJpZCI6ImMzIiwibWV0aG9kIjoiUE9TVCIsInBhdGgiOiIvdjEvbWVzc2FnZXMiLCJzdGF0dXMiOiJm',
    'YWlsZWQiLCJodHRwU3RhdHVzIjpudWxsLCJjb250ZW50VHlwZSI6bnVsbCwiY29kaW5nIjpudWxsLCJzZW50QXQiOm51bGwsIndo',
    'b2xlIjp0cnVlLCJmaXJzdEJ5dGVNcyI6bnVsbCwiZHVyYXRpb25NcyI6MCwiZXJyb3IiOnsiY29kZSI6IkVDT05OUkVTRVQiLCJt',
    'ZXNzYWdlIjoic29ja2V0IGhhbmcgdXAifSwiYnJhbmNoIjpudWxsfSgAAAAAAAAAXbLvw0Hq3kF7ImtpbmQiOiJkb25lIiwiaWQi',
    'OiJjMyIsIndoYXQiOiJlbmRlZCJ9',
  ].join(''),
  'base64',
);

const ENTRIES: readonly { readonly entry: ProxyEntry; readonly body: string }[] = [
  {
    entry: {
      kind: 'started',
      id: 'a1',
      place: { run: 'Übung "7"' },
      method: 'POST',
      path: '/v1/messages',
      origin: null,
      contentType: 'application/json',
      sentAt: 1_764_270_000_123,
      coding: null,
      whole: true,
    },
    body: '{"messages":[]}',
  },
  {
    entry: {
      kind: 'started',
      id: 'b2',
      place: { name: 'desk:3', steer: true },
      method: 'POST',
      path: '/v1/chat/completions',
      coding: 'gzip',
      whole: false,
      unkept: { sha256: 'ab'.repeat(32), size: 90_000_000_000 },
    },
    body: '',
  },
  {
    entry: {
      kind: 'ended',
      id: 'a1',
      method: 'POST',
      path: '/v1/messages',
      status: 'answered',
      httpStatus: 200,
      contentType: 'text/event-stream',
      coding: null,
      retryAfter: null,
      whole: true,
      firstByteMs: 12.375,
      durationMs: 1_234.5,
      error: null,
      branch: { history: 'run-Übung', branchId: 2 ** 40 },
    },
    body: 'data: {}\n\n',
  },
  {
    entry: {
      kind: 'ended',
      id: 'c3',
      method: 'POST',
      path: '/v1/messages',
      status: 'failed',
      httpStatus: null,
      contentType: null,
      coding: null,
      sentAt: null,
      whole: true,
      firstByteMs: null,
      durationMs: 0,
      error: { code: 'ECONNRESET', message: 'socket hang up' },
      branch: null,
    },
    body: '',
  },
  { entry: { kind: 'done', id: 'c3', what: 'ended' }, body: '' },
];

/** An entry with this head, as a file has it. */
const withHead = (head: Uint8Array): Buffer => {
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeUInt32LE(head.length, 0);
  prefix.writeUInt32LE(crc32(head), 8);
  prefix.writeUInt32LE(crc32(prefix.subarray(0, 12)), 12);
  return Buffer.concat([prefix, head]);
};

const encoded = ({ entry, body }: (typeof ENTRIES)[number]): Buffer =>
  Buffer.concat(encodeEntry(entry, [Buffer.from(body)]));

describe('a journal', () => {
  test.each([
    ['of an earlier version', EARLIER],
    ['of this version', Buffer.concat(ENTRIES.map(encoded))],
  ])('%s is read as it was written', (_, bytes) => {
    let at = 0;
    for (const { entry, body } of ENTRIES) {
      const read = decodeEntry(bytes, at);
      expect({ entry: read?.entry, body: read?.body.toString() }).toEqual({ entry, body });
      expect(decodeHead(bytes, at)).toEqual(entry.kind === 'done' ? undefined : { entry, next: read?.next });
      at = read?.next as number;
    }
    expect(at).toBe(bytes.length);
  });

  test('leaves out what is undefined, and is shorter than that of an earlier version', () => {
    const [{ entry, body }] = ENTRIES as [(typeof ENTRIES)[number]];
    const bytes = encoded({ entry: { ...entry, unsteered: undefined } as ProxyEntry, body });
    expect(bytes).toEqual(encoded({ entry, body }));
    expect(Buffer.concat(ENTRIES.map(encoded)).length).toBeLessThan(EARLIER.length);
  });
});

test.each([
  ['a list of 4 billion', 'ddffffffff'],
  ['a map of 4 billion', 'dfffffffff'],
  ['a text of 4 GB', 'dbffffffff'],
  ['bytes of 4 GB', 'c6ffffffff'],
  ['an extension of 4 GB', 'c9ffffffff01'],
  ['a map in a map without an end', '81a16b'.repeat(1_000)],
  ['lists in lists without an end', '91'.repeat(100_000)],
  [
    'an entry and more',
    Buffer.concat([encodeEntry({ kind: 'done', id: 'c', what: 'ended' })[1]!, Buffer.of(0)]).toString('hex'),
  ],
  ['an entry of another kind', Buffer.from('{"kind":"moved"}').toString('hex')],
  ['no entry', 'c0'],
  ['nothing', ''],
])('a head that is %s is damage', (_, head) => {
  expect(() => decodeEntry(withHead(Buffer.from(head, 'hex')), 0)).toThrow(/damaged/);
});
