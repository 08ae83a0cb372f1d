import { bootId } from '@stemma/machine';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { decodeEntry, type EntryRef, type StartedEntry } from '../../src/proxy/entry.ts';
import { openJournal } from '../../src/proxy/journal.ts';

let home = '';
let folder = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stemma-open-calls-'));
  folder = join(home, 'calls');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const said: string[] = [];
const opened = (options: { readonly inMemory?: boolean; readonly limit?: number } = {}) =>
  openJournal({
    ...{ directory: home, limit: 1_000_000, inMemory: false, ...options },
    warn: (sentence) => void said.push(sentence),
  });

const started = (id: string, sentAt: number | null = 1): StartedEntry => ({
  ...{ kind: 'started', id, place: null, method: 'POST', path: '/v1/chat/completions' },
  ...{ coding: null, whole: true, sentAt },
});
const HEAD = {
  ...{ httpStatus: 200, contentType: 'text/event-stream', coding: null, retryAfter: null },
  ...{ sentAt: null, firstByteMs: 3 },
};
const branch = { history: 'h', branchId: 2 };
const textOf = (text: string): Buffer => Buffer.from(text);

/** The files of this process, as those of one that is gone. */
const abandon = (): void => {
  for (const name of readdirSync(folder))
    renameSync(join(folder, name), join(folder, name.replace(/^\d+-\d+-/, '999999999-0-')));
};
const readAt = (ref: EntryRef): ReturnType<typeof decodeEntry> =>
  'bytes' in ref
    ? decodeEntry(Buffer.from(ref.bytes), 0)
    : decodeEntry(readFileSync(ref.file).subarray(ref.at, ref.at + ref.length), 0);

test(
  'what the client of a cut call was given is found, with where its beginning is recorded, and once',
  { tags: ['calls§4.5'] },
  async () => {
    const { journal } = await opened();
    const call = journal.unendedCalls.open(started('call-a'));
    call.placed(branch);
    call.given(textOf('one '), HEAD, 5);
    call.given(textOf('two '), HEAD, 9);
    const [name = ''] = readdirSync(folder);
    expect(name).toMatch(/-call-a\.open$/);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    abandon();
    const [first, second] = [await opened(), await opened()];
    const found = [...first.left, ...second.left];
    expect(found.map(({ kind, id }) => [kind, id])).toEqual([['ended', 'call-a']]);
    const { entry, body } = readAt(found[0]?.ref ?? { bytes: new Uint8Array() }) ?? {};
    expect(body?.toString()).toBe('one two ');
    expect(entry).toMatchObject({
      ...{
        status: 'failed',
        httpStatus: 200,
        contentType: 'text/event-stream',
        firstByteMs: 3,
        durationMs: 9,
      },
      ...{ branch, whole: true },
      error: { code: null, message: 'the process that forwarded the call ended before the call did' },
    });
    expect(readdirSync(folder).filter((each) => each.endsWith('.open'))).toEqual([]);
  },
);

test('of a piece that was being written when the process ended nothing is taken, and all before it is', async () => {
  const { journal } = await opened();
  const call = journal.unendedCalls.open(started('call-a'));
  for (const word of ['one ', 'two ']) call.given(textOf(word), HEAD, 1);
  const [name = ''] = readdirSync(folder);
  truncateSync(join(folder, name), statSync(join(folder, name)).size - 1);
  abandon();
  const { left } = await opened();
  expect(readAt(left[0]?.ref ?? { bytes: new Uint8Array() })?.body.toString()).toBe('one ');
});

test('a call whose end is noted leaves nothing, whatever its process left beside it', async () => {
  const { journal } = await opened();
  const closed = journal.unendedCalls.open(started('call-a'));
  closed.given(textOf('one'), HEAD, 1);
  closed.close();
  closed.given(textOf('two'), HEAD, 1);
  closed.close();
  expect(readdirSync(folder)).toEqual([]);
  // Killed between the two.
  journal.unendedCalls.open(started('call-b')).given(textOf('cut'), HEAD, 1);
  const ended = {
    ...HEAD,
    kind: 'ended',
    id: 'call-b',
    method: 'POST',
    path: '/v1/chat/completions',
  } as const;
  await journal.append({ ...ended, status: 'answered', whole: true, durationMs: 2, error: null, branch }, [
    textOf('whole'),
  ]);
  abandon();
  const { left } = await opened();
  expect(left.map(({ id, ref }) => [id, readAt(ref)?.body.toString()])).toEqual([['call-b', 'whole']]);
  expect(readdirSync(folder).filter((each) => each.endsWith('.open'))).toEqual([]);
});

test('a call that went out and has no end ends with its process; of one that was held nobody knows', async () => {
  const { journal } = await opened();
  await journal.append(started('call-a'), [textOf('{}')]);
  await journal.append(started('call-b', null), [textOf('{}')]);
  await journal.close();
  abandon();
  const { left } = await opened();
  expect(left.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
    'started call-a',
    'started call-b',
    'ended call-a',
  ]);
});

test('nothing is written where rules of redaction hold, and no more than there is room for', async () => {
  const { journal } = await opened({ inMemory: true });
  journal.unendedCalls.open(started('call-a')).given(textOf('secret'), HEAD, 1);
  expect(readdirSync(folder)).toEqual([]);
  const small = await opened({ limit: 1_000 });
  const call = small.journal.unendedCalls.open(started('call-b'));
  call.given(textOf('x'.repeat(500)), HEAD, 1);
  call.given(textOf('y'.repeat(500)), HEAD, 1);
  expect(said.at(-1)).toContain('there is no room for more that wait');
  abandon();
  const { left } = await opened();
  expect(readAt(left[0]?.ref ?? { bytes: new Uint8Array() })?.body.toString()).toBe('x'.repeat(500));
});

test('a file of another boot is of a process that has ended', async () => {
  const { journal } = await opened();
  journal.unendedCalls.open(started('call-a')).given(textOf('one'), HEAD, 1);
  const [name = ''] = readdirSync(folder);
  renameSync(join(folder, name), join(folder, name.replace(bootId(), '0'.repeat(8))));
  expect((await opened()).left.map(({ id }) => id)).toEqual(['call-a']);
});
