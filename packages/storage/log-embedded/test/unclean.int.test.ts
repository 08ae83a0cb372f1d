import { sealRecord, type EntryOffset, type EventLog } from '@stemma/log';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { entryBytes, writeEntry } from '../src/entry.ts';
import { openEmbeddedLog } from '../src/index.ts';
import { openLockEnvironment } from '../src/lock-environment.ts';
import { segmentPath } from '../src/segments.ts';
import { keysOf, makeDirectory, removeDirectories, runChild } from './kit.ts';

afterEach(removeDirectories);

const recordOf = (name: string): Uint8Array => sealRecord(Buffer.from(`what ${name} wrote`));

const append = (log: EventLog, name: string): Promise<readonly EntryOffset[]> =>
  log.append(0, [{ key: name, bytes: recordOf(name) }]);

/** What somebody who was killed had written at an offset of a segment: all of an entry, or only its first bytes. */
const leave = (directory: string, base: number, offset: number, name: string, bytes = Infinity): void => {
  const key = Buffer.from(name);
  const entry = Buffer.alloc(entryBytes(key.length, recordOf(name).length));
  writeEntry(entry, 0, offset, key, recordOf(name));
  const file = openSync(segmentPath(join(directory, '0'), base), 0o102);
  writeSync(file, entry, 0, Math.min(bytes, entry.length), offset - base);
  closeSync(file);
};

it.each([
  ['whole in the last segment', 0, Infinity, ['a', 'killed', 'b', 'c']],
  ['half in the last segment', 0, 30, ['a', 'b', 'c']],
  ['whole in a segment that it began', 1, Infinity, ['a', 'killed', 'b', 'c']],
  ['half in a segment that it began', 1, 30, ['a', 'b', 'c']],
])(
  'an entry that a killed process left %s is kept or cut off, and later appends are never read from a wrong offset',
  { tags: ['record§6:killed'] },
  async (_what, segment, bytes, expected) => {
    const directory = makeDirectory();
    const log = await openEmbeddedLog({ directory });
    await append(log, 'a');
    const end = await log.end(0);
    leave(directory, segment * end, end, 'killed', bytes);
    // This process has no reason to look: nobody left a note that he was in the middle.
    await append(log, 'b');
    const other = await openEmbeddedLog({ directory });
    await append(other, 'c');
    expect(await keysOf(other)).toEqual(expected);
    expect(await keysOf(log)).toEqual(expected);
    await log.close();
    await other.close();
  },
);

it(
  'an append overwrites no acknowledged record when the recorded end is too old, as LMDB gave it to processes that opened it during a commit',
  { tags: ['record§6:durable'] },
  async () => {
    const directory = makeDirectory();
    const log = await openEmbeddedLog({ directory });
    await append(log, 'a');
    const end = await log.end(0);
    await append(log, 'b');
    await append(log, 'c');
    const environment = openLockEnvironment(join(directory, 'lock', '1'));
    environment.locked((put) => put(0, { end, base: 0 }));
    await environment.close();
    await append(log, 'd');
    expect(await keysOf(log)).toEqual(['a', 'b', 'c', 'd']);
    await log.close();
  },
);

it('a process that opens a log waits for a process that is committing', { tags: ['record§6'] }, async () => {
  const directory = makeDirectory();
  await (await openEmbeddedLog({ directory })).close();
  const holder = runChild('hold.ts', [directory, 'until told']);
  await holder.said(1);
  const opener = runChild('open.ts', [directory]);
  await opener.said(1);
  holder.process.stdin?.end();
  await Promise.all([holder.ended, opener.ended]);
  const at = ({ lines }: typeof holder): bigint => BigInt(lines().at(-1) ?? 0);
  expect(at(holder)).toBeGreaterThan(0n);
  expect(at(opener)).toBeGreaterThan(at(holder));
});
