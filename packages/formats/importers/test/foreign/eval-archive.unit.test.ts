import { zip } from '@stemma/test-kit';
import { describe, expect, test } from 'vitest';
import { evalLines } from '../../src/foreign/inspect/archive.ts';
import { listZipEntries, readZipEntry, type RandomAccess } from '../../src/foreign/zip-entries.ts';

const file = (bytes: Uint8Array): RandomAccess => ({
  name: 'log.eval',
  size: bytes.length,
  read: async (offset, length) => bytes.subarray(offset, offset + length),
});
const linesOf = async (bytes: Uint8Array): Promise<unknown[]> => {
  const lines: Uint8Array[] = [];
  for await (const line of evalLines(file(bytes))) lines.push(line);
  return Buffer.concat(lines)
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
};

const HEAD = { version: 2, status: 'success', eval: { task: 't', model: 'm' } };
const pretty = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('\n', '\r\n');

describe('an archive of Inspect', () => {
  test.each(['stored', 'deflate', 'zstd'] as const)(
    'is its head and a line for each sample (%s)',
    async (method) => {
      const sample = { id: 1, epoch: 1, text: 'two\nlines' };
      const bytes = zip(
        [
          ['_journal/start.json', pretty({ ...HEAD, status: undefined })],
          ['samples/1_epoch_1.json', pretty({ id: 'before' })],
          ['_journal/summaries/1.json', '[]'],
          ['samples/a/b_epoch_2.json', pretty({ id: 'a/b' })],
          ['samples/1_epoch_1.json', pretty(sample)],
          ['header.json', pretty(HEAD)],
        ],
        { method },
      );
      expect(await linesOf(bytes)).toEqual([HEAD, { id: 'a/b' }, sample]);
    },
  );

  test('that was not finished has the head that it began with', async () => {
    const bytes = zip([
      ['_journal/start.json', pretty(HEAD)],
      ['samples/1_epoch_1.json', pretty({ id: 1 })],
    ]);
    expect(await linesOf(bytes)).toEqual([HEAD, { id: 1 }]);
  });

  test('puts a sample in chunks together, in the order of their numbers', async () => {
    const bytes = zip([
      ['samples/1_epoch_1/sample.json', pretty({ id: 1, epoch: 1 })],
      ['samples/1_epoch_1/events/1000.json', pretty([{ event: 'c' }])],
      ['samples/1_epoch_1/events/2.json', pretty([{ event: 'b' }])],
      ['samples/1_epoch_1/events/0.json', pretty([{ event: 'a' }])],
      ['samples/1_epoch_1/events/stats.json', '{}'],
      ['samples/1_epoch_1/messages/0.json', pretty([{ role: 'user', content: 'x' }])],
      ['samples/1_epoch_1/attachments/0.json', pretty(['text'])],
      ['header.json', pretty(HEAD)],
    ]);
    expect(await linesOf(bytes)).toEqual([
      HEAD,
      {
        ...{ id: 1, epoch: 1, events: [{ event: 'a' }, { event: 'b' }, { event: 'c' }] },
        ...{ attachments: ['text'], events_data: { messages: [{ role: 'user', content: 'x' }], calls: [] } },
      },
    ]);
  });

  test('of another program, cut off, or damaged, is refused with a code', async () => {
    const bytes = zip([['header.json', pretty(HEAD)]]);
    await expect(linesOf(zip([['readme.txt', 'x']]))).rejects.toMatchObject({ code: 'E_INPUT_SHAPE' });
    await expect(linesOf(bytes.subarray(0, -30))).rejects.toMatchObject({ code: 'E_INPUT_TRUNCATED' });
    for (let i = 0; i < bytes.length; i++) {
      const damaged = Buffer.from(bytes);
      damaged[i] = (damaged[i] ?? 0) ^ 0xff;
      const outcome = await linesOf(damaged).then(
        () => 'read',
        (error: unknown) => (error instanceof SyntaxError ? 'no JSON' : (error as { code?: string }).code),
      );
      expect(String(outcome)).toMatch(/^(?:read|no JSON|E_INPUT_[A-Z_]+)$/);
    }
  });

  test('is no bomb: an entry has a limit, and entries that share bytes are refused', async () => {
    const bytes = zip([['header.json', ' '.repeat(5_000_000)]]);
    const [entry] = await listZipEntries(file(bytes));
    if (entry === undefined) throw new Error('no entry');
    for (const size of [entry.size, 10])
      await expect(readZipEntry(file(bytes), { ...entry, size }, 1_000_000)).rejects.toMatchObject({
        code: 'E_INPUT_TOO_LARGE',
      });
    const shared = zip(
      Array.from({ length: 200 }, (_, i) => [`samples/${i}_epoch_1.json`, 'x'.repeat(1_000)] as const),
      { method: 'stored', share: true },
    );
    await expect(linesOf(shared)).rejects.toMatchObject({ code: 'E_INPUT_SHAPE' });
  });
});
