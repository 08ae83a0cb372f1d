import { checkpointAtStart, openRevalidatingReader, readPartition, type Cursor } from '@stemma/log';
import { noteIntent } from '@stemma/log/contract';
import { copyFileSync, readdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openEmbeddedLog } from '../src/index.ts';
import { makeDirectory, noteWriter, removeDirectories } from './kit.ts';

afterEach(removeDirectories);

/** A log of five notes that a reader has read to its end. */
const openRead = async () => {
  const directory = makeDirectory();
  const log = await openEmbeddedLog({ directory });
  const writer = await noteWriter(log);
  for (let i = 0; i < 5; i++) await writer.write(noteIntent('h', `c${i}`, `note ${i}`));
  const reader = openRevalidatingReader(log, 0);
  const heads = new Map();
  let cursor: Cursor | undefined;
  const checkpoint = await checkpointAtStart(log, 0);
  for await (const batch of readPartition(log, { checkpoint, heads: { load: () => heads }, reader }))
    cursor = batch.checkpoint.cursor;
  const [name = ''] = readdirSync(join(directory, '0'));
  return {
    log,
    segment: join(directory, '0', name),
    /** What a reader does that goes on where it has ended. */
    goOn: () => reader.begin(cursor as Cursor),
  };
};

/** Puts a file in the place of another, as copying a backup over a home does. */
const exchange = (path: string, bytes: Uint8Array): void => {
  writeFileSync(`${path}.new`, bytes);
  renameSync(`${path}.new`, path);
};

it(
  'a reader of an open log goes on when its last segment is replaced by a copy with the same bytes',
  { tags: ['record§5:lost-end'] },
  async () => {
    const { log, segment, goOn } = await openRead();
    copyFileSync(segment, `${segment}.copy`);
    renameSync(`${segment}.copy`, segment);
    await expect(goOn()).resolves.toBeUndefined();
    await log.close();
  },
);

it.each<[string, (segment: string) => void]>([
  [
    'replaced by a file with other bytes',
    (segment) => {
      const bytes = readFileSync(segment);
      const at = bytes.indexOf('note 4');
      bytes[at] = 0x4e;
      exchange(segment, bytes);
    },
  ],
  ['cut', (segment) => truncateSync(segment, 100)],
])(
  'a reader of an open log refuses to go on when its last segment was %s',
  { tags: ['record§5:lost-end'] },
  async (_what, change) => {
    const { log, segment, goOn } = await openRead();
    await expect(goOn()).resolves.toBeUndefined();
    change(segment);
    await expect(goOn()).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
    await log.close();
  },
);

it(
  'a record at a known offset is read without a look at the files, and the next look finds them exchanged',
  { tags: ['record§5:lost-end'] },
  async () => {
    const { log, segment } = await openRead();
    const { records } = await log.read(0, 0);
    const offsets = records.map(({ offset }) => offset);
    const epoch = log.epoch?.(0) ?? 0;
    exchange(segment, Buffer.alloc(readFileSync(segment).length));
    for (const [i, offset] of offsets.entries()) {
      const [record] = (await log.read(0, offset, { maxBytes: 1, known: [offset] })).records;
      expect(record?.bytes).toEqual(records[i]?.bytes);
    }
    expect(log.epoch?.(0)).toBe(epoch + 1);
    const [first = 0] = offsets;
    expect((await log.read(0, first, { maxBytes: 1, known: [first] })).records[0]?.damaged).toBe(true);
    await log.close();
  },
);
