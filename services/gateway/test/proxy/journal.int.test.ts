import { bootId } from '@stemma/machine';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { decodeEntry, type StartedEntry } from '../../src/proxy/entry.ts';
import { openJournal } from '../../src/proxy/journal.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stemma-journal-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const opened = async (directory: string) => {
  const said: string[] = [];
  const warn = (sentence: string): void => void said.push(sentence);
  const { journal, left } = await openJournal({ directory, limit: 1_000_000, inMemory: false, warn });
  return { journal, left, said };
};

const startedEntry = (id: string): StartedEntry => ({
  ...{ kind: 'started', id, place: null, method: 'POST', path: '/v1/chat/completions' },
  ...{ coding: null, whole: true },
});

/** The file that a process leaves which is killed while five calls wait, each beginning after the one before. */
const leftBehind = async (): Promise<{ readonly name: string; readonly bytes: Buffer }> => {
  const { journal } = await opened(home);
  for (let i = 0; i < 5; i++)
    await journal.append(startedEntry(`call-${i}`), [
      Buffer.from(`{"model":"m","messages":[]}${' '.repeat(i)}`),
    ]);
  const folder = join(home, 'calls');
  const [written = ''] = readdirSync(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, written)).mode & 0o777).toBe(0o600);
  await journal.close();
  // As of a process that is gone.
  const name = `999999999-0-${bootId()}-0.calls`;
  renameSync(join(folder, written), join(folder, name));
  return { name, bytes: readFileSync(join(folder, name)) };
};

test('calls that a killed process noted are given back in order; of one that is cut off nothing is', async () => {
  const { name, bytes } = await leftBehind();
  expect((await opened(home)).left.map(({ id }) => id)).toEqual([
    'call-0',
    'call-1',
    'call-2',
    'call-3',
    'call-4',
  ]);
  writeFileSync(join(home, 'calls', name), bytes.subarray(0, bytes.length - 3));
  const cut = await opened(home);
  expect(cut.left.map(({ id }) => id)).toEqual(['call-0', 'call-1', 'call-2', 'call-3']);
  expect(cut.said).toEqual([]);
});

test('two processes that begin at once both get what a killed one left, and neither minds that the other removes it', async () => {
  const { name } = await leftBehind();
  const [a, b] = await Promise.all([opened(home), opened(home)]);
  expect([a.left.length, b.left.length]).toEqual([5, 5]);
  for (const { journal, left } of [a, b]) for (const each of left) journal.done(each);
  await Promise.all([a.journal.close(), b.journal.close()]);
  expect([...a.said, ...b.said]).toEqual([]);
  // As of a file that is removed between the look at its folder and the look at it.
  symlinkSync(join(home, 'nowhere'), join(home, 'calls', name));
  expect((await opened(home)).left).toEqual([]);
});

test('whichever byte of it is changed: calls before that are given back as they were, it is said, and the file is kept', async () => {
  const { bytes } = await leftBehind();
  const [, ...ends] = (await opened(home)).left.map(({ ref }) => ('file' in ref ? ref.at : 0));
  for (let at = 0; at < bytes.length; at++) {
    const directory = join(home, `changed-${at}`);
    mkdirSync(join(directory, 'calls'), { recursive: true });
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ (1 << (at % 8));
    writeFileSync(join(directory, 'calls', `999999999-0-${bootId()}-0.calls`), changed);
    const { left, said, journal } = await opened(directory);
    expect(left, `byte ${at}`).toHaveLength(ends.filter((end) => end <= at).length);
    expect(said, `byte ${at}`).toEqual([expect.stringMatching(/is damaged|are damaged at byte/)]);
    for (const each of left) journal.done(each);
    await journal.close();
    expect(readdirSync(join(directory, 'calls')), `byte ${at}`).toEqual([
      expect.stringMatching(/\.calls\.damaged$/),
    ]);
  }
});

test('calls that are noted at the same time are written together, each where it says; those that are recorded meanwhile are not given back', async () => {
  const { journal } = await opened(home);
  const noted = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      journal.append(startedEntry(`call-${i}`), [Buffer.from(`body ${i} `.repeat(i)), Buffer.from('end')]),
    ),
  );
  const folder = join(home, 'calls');
  const [name = ''] = readdirSync(folder);
  for (const [i, each] of noted.entries()) {
    if (each === undefined || !('file' in each.ref)) throw new Error('it is not in the file');
    const read = decodeEntry(readFileSync(each.ref.file), each.ref.at);
    expect(read?.entry).toMatchObject({ kind: 'started', id: `call-${i}` });
    expect(read?.body.toString()).toBe(`body ${i} `.repeat(i) + 'end');
    expect(read?.next).toBe(each.ref.at + each.ref.length);
  }
  for (const [i, each] of noted.entries()) if (each !== undefined && i % 3 !== 0) journal.done(each);
  await journal.append(startedEntry('call-last'), []);
  await journal.close();
  renameSync(join(folder, name), join(folder, `999999999-0-${bootId()}-0.calls`));
  const { journal: next, left, said } = await opened(home);
  expect(said).toEqual([]);
  expect(left.map(({ id }) => id)).toEqual([
    ...noted.flatMap((each, i) => (each !== undefined && i % 3 === 0 ? [each.id] : [])),
    'call-last',
  ]);
  for (const each of left) next.done(each);
  await next.close();
  expect(readdirSync(folder)).toEqual([]);
});

test('a file of which everything is recorded begins anew', async () => {
  const { journal } = await opened(home);
  const folder = join(home, 'calls');
  for (let round = 0; round < 3; round++) {
    const noted = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        journal.append(startedEntry(`${round} ${i}`), [Buffer.alloc(1_000)]),
      ),
    );
    for (const each of noted) if (each !== undefined) journal.done(each);
  }
  const [last] = await Promise.all([journal.append(startedEntry('last'), [])]);
  expect(last?.ref).toMatchObject({ at: 0 });
  expect(readdirSync(folder)).toHaveLength(1);
  if (last !== undefined) journal.done(last);
  await journal.close();
  expect(readdirSync(folder)).toEqual([]);
});

test('what is recorded is overwritten in its file while something else in it waits, and a process that follows a killed one finds the rest', async () => {
  const { journal } = await openJournal({
    ...{ directory: home, limit: 100_000_000, inMemory: false, blankAfter: 1 },
    warn: (sentence) => expect.unreachable(sentence),
  });
  const folder = join(home, 'calls');
  const bytes = (): string =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'latin1'))
      .join('');
  const body = (i: number): Buffer[] => [Buffer.from(`secret-${i} `.repeat(i % 5 === 0 ? 400_000 : 10))];
  const noted = [];
  // In several files: each is full after 16 MiB.
  for (let i = 0; i < 30; i++) noted.push(await journal.append(startedEntry(`call-${i}`), body(i)));
  const waits = new Set([3, 17, 29]);
  expect(readdirSync(folder).length).toBeGreaterThan(1);
  for (const [i, each] of noted.entries()) if (each !== undefined && !waits.has(i)) journal.done(each);
  await expect
    .poll(() => new Set(bytes().match(/secret-\d+/gu)), { timeout: 60_000, interval: 20 })
    .toEqual(new Set(['secret-3', 'secret-17', 'secret-29']));
  for (const i of waits) {
    const ref = noted[i]?.ref;
    if (ref === undefined || !('file' in ref)) throw new Error('it is not in a file');
    expect(decodeEntry(readFileSync(ref.file), ref.at)?.body.toString()).toBe(body(i)[0]?.toString());
  }
  // As of a process that is killed now.
  for (const name of readdirSync(folder)) {
    const number = /-(\d+)\.calls$/u.exec(name)?.[1] ?? '';
    writeFileSync(join(folder, `999999999-0-${bootId()}-${number}.calls`), readFileSync(join(folder, name)));
  }
  const { left, said } = await opened(home);
  expect(said).toEqual([]);
  expect(left.map(({ id }) => id)).toEqual(['call-3', 'call-17', 'call-29']);
  await journal.close();
});

test('of small calls only so many wait that to know of them takes little memory, and there is room again for what is recorded', async () => {
  const { journal } = await opened(home);
  const noted = [];
  for (let i = 0; i < 2_000; i++) noted.push(await journal.append(startedEntry(`call-${i}`), []));
  const waiting = noted.filter((each) => each !== undefined);
  // 4 KiB of the limit each, though they are a twentieth of that.
  expect(waiting).toHaveLength(Math.floor(1_000_000 / 4_096));
  expect(journal.size()).toBeLessThan(100_000);
  for (const each of waiting) journal.done(each);
  expect(await journal.append(startedEntry('next'), [])).toBeDefined();
  await journal.close();
});
