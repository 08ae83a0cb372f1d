import { sealRecord, type EventLog } from '@stemma/log';
import { sized } from '@stemma/test-kit';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { thisDisk } from '../src/disk.ts';
import { openEmbeddedLog } from '../src/index.ts';
import { segmentBases, segmentPath } from '../src/segments.ts';
import { keysOf, makeDirectory, noteWriter, notesOf, removeDirectories, report, runChild } from './kit.ts';
import { noteIntent } from '@stemma/log/contract';

afterEach(removeDirectories);

/** Another process copies: if this one closed a lock file, LMDB would lose its locks. */
const copyOf = (directory: string): string => {
  const copy = join(makeDirectory(), 'copy');
  const { status, stderr } = spawnSync('cp', ['-r', directory, copy], { encoding: 'utf8' });
  // A file that went away between listing and reading is said, and does no harm.
  if (status !== 0) expect(stderr).toMatch(/No such file/);
  return copy;
};

const COPIED = /was copied while others wrote to it: its lock was made anew, and its end was found/;

const append = async (log: EventLog, key: string): Promise<number> => {
  const bytes = sealRecord(Buffer.from(`what ${key} wrote ${key.repeat(6000)}`));
  return (await log.append(0, [{ key, bytes }]))[0]?.offset ?? NaN;
};

/** Bytes of a file put in the place of others. */
const overwrite = (file: string, at: number, bytes: Uint8Array): void => {
  const opened = openSync(file, 'r+');
  writeSync(opened, bytes, 0, bytes.length, at);
  closeSync(opened);
};

type Made = {
  readonly copy: string;
  /** Where an offset is: its segment file, and the place in it. */
  readonly at: (offset: number) => { readonly file: string; readonly place: number };
  readonly offsets: Readonly<Record<string, number>>;
};

/** A copy of a log with the records a to f, whose writer has it open. Two records fill a segment if it is small. */
const copyWhileOpen = async (segmentBytes: number, use: (made: Made) => Promise<void>): Promise<void> => {
  const directory = makeDirectory();
  const log = await openEmbeddedLog({ directory, segmentBytes, stepBytes: 4096 });
  const offsets: Record<string, number> = {};
  for (const key of 'abcdef') offsets[key] = await append(log, key);
  const copy = copyOf(directory);
  const folder = join(copy, '0');
  const at: Made['at'] = (offset) => {
    const base = segmentBases(thisDisk, folder).findLast((each) => each <= offset) ?? NaN;
    return { file: segmentPath(folder, base), place: offset - base };
  };
  await use({ copy, at, offsets });
  await log.close();
};

/** Opens a copy, writes to it and opens it again; gives its records and what was said the first time. */
const recover = async (directory: string): Promise<{ keys: (string | null)[]; said: readonly string[] }> => {
  const said: string[] = [];
  const log = await openEmbeddedLog({ directory, busyAfter: 1000, say: (sentence) => said.push(sentence) });
  const keys = await keysOf(log);
  await append(log, 'z');
  await log.close();
  const again = await openEmbeddedLog({ directory, say: (sentence) => expect(sentence).toBe('nothing') });
  expect(await keysOf(again)).toEqual([...keys, 'z']);
  await again.close();
  return { keys, said };
};

const asideIn = (copy: string): number =>
  readdirSync(join(copy, '0')).filter((name) => name.endsWith('.behind-gap')).length;

const ONE = 1024 * 1024;
const TWO_RECORDS = 13_000;

it.each<[string, number, (made: Made) => void, string, number]>([
  ['is whole', ONE, () => undefined, 'abcdef', 0],
  [
    'ends before what its lock says',
    ONE,
    ({ at, offsets }) => truncateSync(at(0).file, at(offsets['d'] ?? 0).place + 100),
    'abc',
    1,
  ],
  [
    'has zeros to the end of a page, and data behind them',
    ONE,
    ({ at, offsets }) => {
      const { file, place } = at(offsets['d'] ?? 0);
      overwrite(file, place, Buffer.alloc(4096 - (place % 4096)));
    },
    'abc',
    1,
  ],
  [
    'has zeros in the middle of an entry to the end of a page, and data behind them',
    ONE,
    ({ at, offsets }) => {
      const { file, place } = at(offsets['d'] ?? 0);
      const end = Math.ceil((place + 1000) / 4096) * 4096;
      overwrite(file, end - 500, Buffer.alloc(500));
    },
    'abc',
    1,
  ],
  [
    'has a segment that is half full, and the next one',
    TWO_RECORDS,
    ({ at, offsets }) => {
      const { file, place } = at(offsets['d'] ?? 0);
      const length = readFileSync(file).length;
      overwrite(file, place, Buffer.alloc(length - place));
    },
    'abc',
    1,
  ],
  [
    'has a segment that ends within an entry, and the next one',
    TWO_RECORDS,
    ({ at, offsets }) => truncateSync(at(offsets['d'] ?? 0).file, at(offsets['d'] ?? 0).place + 100),
    'abc',
    2,
  ],
])(
  'a copy of a log in use that %s holds the beginning of the log, and can be written',
  async (...[, size, change, keys, aside]) => {
    await copyWhileOpen(size, async (made) => {
      change(made);
      const found = await recover(made.copy);
      expect(found).toEqual({ keys: Array.from(keys), said: [expect.stringMatching(COPIED)] });
      expect(asideIn(made.copy)).toBe(aside);
    });
  },
);

it('in a copy of a log in use a changed byte is damage, and the records behind it are read', async () => {
  await copyWhileOpen(ONE, async ({ copy, at, offsets }) => {
    const { file, place } = at(offsets['c'] ?? 0);
    overwrite(file, place, Buffer.of(0xff));
    const { keys } = await recover(copy);
    expect(keys).toEqual(['a', 'b', null, 'd', 'e', 'f']);
    expect(asideIn(copy)).toBe(0);
  });
});

it('a copy of a log that no process has open keeps the end noted in its lock: missing bytes before that end are damage', async () => {
  const directory = makeDirectory();
  const log = await openEmbeddedLog({ directory });
  await append(log, 'a');
  const offset = await append(log, 'b');
  await log.close();
  const copy = copyOf(directory);
  truncateSync(segmentPath(join(copy, '0'), 0), offset);
  const said: string[] = [];
  const opened = await openEmbeddedLog({ directory: copy, say: (sentence) => said.push(sentence) });
  expect(await keysOf(opened)).toEqual(['a', null]);
  expect(said).toEqual([]);
  await opened.close();
});

it('a process that opens a copy does not wait for the holder of the lock that the copy names', async () => {
  await copyWhileOpen(ONE, async ({ copy }) => {
    const log = join(copy, 'holder');
    const began = readFileSync('/proc/1/stat', 'latin1').split(') ')[1]?.split(' ')[19] ?? '-';
    overwrite(log, 0, Buffer.from(`1 ${began} 1`.padEnd(48)));
    expect((await recover(copy)).keys).toEqual(Array.from('abcdef'));
  });
});

it('of two processes that open a copy at once one finds its end', async () => {
  await copyWhileOpen(ONE, async ({ copy }) => {
    const said: string[] = [];
    const open = (): Promise<EventLog> =>
      openEmbeddedLog({ directory: copy, say: (sentence) => said.push(sentence) });
    const logs = await Promise.all([open(), open(), open()]);
    await Promise.all(logs.map((log, i) => append(log, String(i))));
    for (const log of logs) expect(await keysOf(log)).toHaveLength(9);
    expect(said).toEqual([expect.stringMatching(COPIED)]);
    for (const log of logs) await log.close();
  });
});

it('each copy of a log that a process writes to has every record that was acknowledged before the copy began', async () => {
  const directory = makeDirectory();
  const child = runChild('notes.ts', [directory, 'a']);
  const outcomes: unknown[] = [];
  for (let i = 0; i < sized(2, 40); i++) {
    child.process.kill('SIGCONT');
    await child.said(child.lines().length + 100);
    const before = [...child.lines()];
    const copy = copyOf(directory);
    // It writes while its log is copied. What it wrote while the copy is examined would only make the next one longer.
    child.process.kill('SIGSTOP');
    const said: string[] = [];
    const log = await openEmbeddedLog({ directory: copy, say: (sentence) => said.push(sentence) });
    const notes = await notesOf(log, ['hshared', 'ha']);
    const have = new Set(
      Object.entries(notes).flatMap(([history, all]) => all.map((note) => `${history} ${note}`)),
    );
    const missing = before.filter((line) => {
      const [history, , note] = line.split(' ');
      return !have.has(`${history} ${note}`);
    });
    const writer = await noteWriter(log);
    await writer.write(noteIntent('hcopy', 'in the copy', 'in the copy'));
    await writer.close();
    const { problems } = await report(log);
    await log.close();
    outcomes.push({ missing: missing.slice(0, 3), problems, said: said.length });
  }
  child.process.kill('SIGKILL');
  await child.ended;
  expect(outcomes).toEqual(outcomes.map(() => ({ missing: [], problems: [], said: 1 })));
}, 400_000);
