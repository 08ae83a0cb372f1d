import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findGone, loadRedaction, noteFile, readNoted } from '../src/index.ts';

let home = '';
const at = (file: string): string => join(home, file);
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'stemma-noted-'))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

const SECRET = 'sk-proj-T3BlbkFJabcdefghijklmnopqrstuvwxyz0123456789ABCD';
const labelOf = async (): Promise<string | undefined> => (await loadRedaction(home, undefined))?.text(SECRET);
const GONE = { code: 'E_FILE_GONE' };

it('a file that was noted is refused when it is missing, and taken again when it is back; its note alone decides', async () => {
  const read = async (): Promise<string | undefined> => {
    try {
      return readFileSync(at('a/b.key'), 'utf8');
    } catch {
      return undefined;
    }
  };
  expect(await readNoted(home, 'a/b.key', read)).toBeUndefined();
  mkdirSync(at('a'));
  writeFileSync(at('a/b.key'), 'one');
  noteFile(home, 'a/b.key', 'print of one');
  noteFile(home, 'a/b.key', 'print of one');
  expect(findGone(home)).toEqual([]);
  renameSync(at('a/b.key'), at('a/kept'));
  await expect(readNoted(home, 'a/b.key', read)).rejects.toMatchObject(GONE);
  // What a writer that was killed leaves beside a note is none.
  writeFileSync(at('noted/c.key.0123456789ab'), '');
  expect(findGone(home)).toEqual(['a/b.key']);
  renameSync(at('a/kept'), at('a/b.key'));
  expect(await readNoted(home, 'a/b.key', read)).toBe('one');
  expect(() => noteFile(home, 'a/b.key', 'print of two')).toThrow(expect.objectContaining(GONE) as Error);
  rmSync(at('noted'), { recursive: true });
  noteFile(home, 'a/b.key', 'print of two');
});

it('without the key of its labels, or without its rules, a home redacts nothing anew: commands are refused until the file is back or its note is deleted', async () => {
  writeFileSync(at('redact.json'), '{"labels": true}');
  const label = await labelOf();
  expect(label).toMatch(/^\[redacted:\w+#\w+\]$/);
  for (const file of ['keys/redaction-labels', 'redact.json']) {
    renameSync(at(file), at('kept'));
    const redactor = await loadRedaction(home, undefined);
    await expect(redactor?.command({ steps: [] } as never)).rejects.toMatchObject(GONE);
    await expect(redactor?.nodes([])).rejects.toMatchObject(GONE);
    expect(() => redactor?.text(SECRET)).toThrow(expect.objectContaining(GONE) as Error);
    expect(findGone(home)).toEqual([file]);
    renameSync(at('kept'), at(file));
    expect(await labelOf()).toBe(label);
  }
  rmSync(at('keys/redaction-labels'));
  rmSync(at('noted/keys%2Fredaction-labels'));
  expect(await labelOf()).not.toBe(label);
  // A key that was put there by somebody else makes other labels, too.
  const other = readFileSync(at('keys/redaction-labels'));
  rmSync(at('keys/redaction-labels'));
  rmSync(at('noted/keys%2Fredaction-labels'));
  await labelOf();
  writeFileSync(at('keys/redaction-labels'), other);
  await expect((await loadRedaction(home, undefined))?.nodes([])).rejects.toMatchObject(GONE);
  rmSync(at('redact.json'));
  rmSync(at('noted/redact.json'));
  expect(await loadRedaction(home, undefined)).toBeUndefined();
});
