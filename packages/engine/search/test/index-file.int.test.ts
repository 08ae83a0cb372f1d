import { sized } from '@stemma/test-kit';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openIndexFile } from '../src/index-file.ts';
import type { IndexFilter, IndexedDocument } from '../src/indexed.ts';
import { cutText, parseQuery, type Term } from '../src/words.ts';
import fc from 'fast-check';

let directory = '';
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'stemma-index-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const DOCUMENTS = Array.from({ length: 60 }, (_, i): IndexedDocument => ({
  history: `h${i % 3}`,
  branchId: 0,
  seq: i,
  index: 0,
  part: 0,
  kind: 'content',
  role: 'user',
  at: i,
  text: `word number ${i} of the ferry`,
  ids: `m${i}`,
}));
const file = (home = directory): string => join(home, 'search', 'index.sqlite');

const fill = async (): Promise<void> => {
  const index = await openIndexFile(directory, () => undefined);
  index.add(DOCUMENTS, null, 'c1');
  index.close();
};

/** What the index of a directory says to a new reader, and whether it was damaged. */
const asked = async (home = directory) => {
  let damaged = 0;
  const index = await openIndexFile(home, () => damaged++);
  const cursor = index.cursor();
  const terms = [{ words: ['ferry'], name: null, prefix: false, not: false }];
  const { total } = index.find(terms, {}, { skip: 0, limit: 1 });
  index.close();
  return { cursor, total, damaged };
};
const WHOLE = { cursor: 'c1', total: 60, damaged: 0 };
const ANEW = { cursor: null, total: 0, damaged: 0 };

it('whatever bytes of an index are changed or zeroed, and wherever it is cut, it is made anew, and the damage is said', async () => {
  await fill();
  expect(await asked()).toEqual(WHOLE);
  const kept = mkdtempSync(join(tmpdir(), 'stemma-index-'));
  cpSync(directory, kept, { recursive: true });
  const whole = readFileSync(file());
  const stride = sized(1_024, 64);
  for (let at = 0; at < whole.length; at += stride)
    for (const how of ['flipped', 'zeroed', 'cut'] as const) {
      const bytes = Buffer.from(whole);
      if (how === 'flipped') bytes[at] = (bytes[at] as number) ^ (1 << ((at / stride) % 8));
      if (how === 'zeroed') bytes.fill(0, at, at + stride);
      if (bytes.equals(whole) && how !== 'cut') continue;
      rmSync(join(directory, 'search'), { recursive: true });
      cpSync(join(kept, 'search'), join(directory, 'search'), { recursive: true });
      writeFileSync(file(), how === 'cut' ? bytes.subarray(0, at) : bytes);
      expect({ how, at, ...(await asked()) }).toEqual({ how, at, ...ANEW, damaged: 1 });
    }
  rmSync(kept, { recursive: true });
}, 120_000);

it('an index whose writer ended before it noted what it left, or which was copied meanwhile, is made anew; one that is written is read', async () => {
  await fill();
  const writer = await openIndexFile(directory, () => undefined);
  writer.add([], 'c1', 'c2');
  expect(await asked()).toEqual({ ...WHOLE, cursor: 'c2' });
  const copy = mkdtempSync(join(tmpdir(), 'stemma-index-'));
  cpSync(directory, copy, { recursive: true });
  expect(await asked(copy)).toEqual(ANEW);
  rmSync(copy, { recursive: true });
  writer.settle();
  expect(await asked()).toEqual({ ...WHOLE, cursor: 'c2' });
  writer.close();
  const note = `${file()}.sum`;
  expect(statSync(note).mode & 0o777).toBe(0o600);
  writeFileSync(note, `writing ${process.pid} 1 00000000-0000-0000-0000-000000000000 1`);
  expect(await asked()).toEqual(ANEW);
});

it('of two writers each notes what both have left', async () => {
  const one = await openIndexFile(directory, () => undefined);
  const two = await openIndexFile(directory, () => undefined);
  one.add(DOCUMENTS.slice(0, 30), null, 'c0');
  two.add(DOCUMENTS.slice(30), 'c0', 'c1');
  one.settle();
  expect(await asked()).toEqual(WHOLE);
  two.add([], 'c1', 'c2');
  one.close();
  expect(await asked()).toEqual({ ...WHOLE, cursor: 'c2' });
  two.close();
  expect(await asked()).toEqual({ ...WHOLE, cursor: 'c2' });
});

/** As a disk that loses a bit, of which no file system knows: the note has the time of the file as it is then. */
const rot = (at: number): void => {
  const bytes = readFileSync(file());
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(file(), bytes);
  const note = `${file()}.sum`;
  const [length, sum] = readFileSync(note, 'utf8').split(' ');
  const { ino, ctimeNs } = statSync(file(), { bigint: true });
  writeFileSync(note, `${length} ${sum} ${ino} ${ctimeNs}`);
};

it('what the disk of a file that is not large lost is noticed before the first answer', async () => {
  await fill();
  rot(readFileSync(file()).length - 9);
  expect(await asked()).toEqual({ ...ANEW, damaged: 1 });
});

/** As a file that is large. */
const openLarge = () => openIndexFile(directory, () => undefined, 0);

it('a large file that has not changed is opened without reading it; what its disk lost is noticed after the first answer', async () => {
  await fill();
  rot(readFileSync(file()).length - 9);
  const index = await openLarge();
  expect(index.cursor()).toBe('c1');
  let altered = 0;
  index.checkLater(() => altered++);
  await vi.waitFor(() => expect(altered).toBe(1));
  index.close();
});

it('who changes a large file compares all of it before, and a note of yesterday is not trusted', async () => {
  await fill();
  rot(readFileSync(file()).length - 9);
  const index = await openLarge();
  expect(() => index.add([], 'c1', 'c2')).toThrow();
  index.close();
  const yesterday = Date.now() / 1_000 - 90_000;
  utimesSync(`${file()}.sum`, yesterday, yesterday);
  let damaged = 0;
  const anew = await openIndexFile(directory, () => damaged++, 0);
  expect([anew.cursor(), damaged]).toEqual([null, 1]);
  anew.close();
});

it('a whole file is compared later without a word, also while another process writes', async () => {
  await fill();
  const index = await openIndexFile(directory, () => undefined);
  const other = await openIndexFile(directory, () => undefined);
  let altered = 0;
  index.checkLater(() => altered++);
  other.add([], 'c1', 'c2');
  other.close();
  expect(await asked()).toEqual({ ...WHOLE, cursor: 'c2' });
  index.close();
  expect(altered).toBe(0);
});

const found = async (terms: readonly Term[], filter: IndexFilter = {}) => {
  const index = await openIndexFile(directory, () => undefined);
  const { documents, ...rest } = index.find(terms, filter, { skip: 0, limit: 100 });
  index.close();
  return { seqs: documents.map(({ seq }) => seq), ...rest };
};
const word = (text: string, prefix = false): Term => ({ words: [text], name: null, prefix, not: false });

it('filters leave out what they say, and no word of a text is one of them', async () => {
  const index = await openIndexFile(directory, () => undefined);
  const roles = ['user', 'tool', 'a "b" OR §kname', null];
  const documents = DOCUMENTS.map((each, i) => ({
    ...each,
    branchId: i % 2,
    role: roles[i % 4] as string | null,
    text: `${each.text} kcontent §kcontent h1 §h1 r75736572`,
  }));
  index.add(documents.slice(0, 40), null, 'c0');
  index.add(documents.slice(40), 'c0', 'c1');
  index.close();
  const where = (test: (each: IndexedDocument) => boolean): readonly number[] =>
    documents
      .filter(test)
      .map(({ seq }) => seq)
      .toReversed();
  const cases: readonly (readonly [IndexFilter, (each: IndexedDocument) => boolean])[] = [
    [{}, () => true],
    [{ role: 'tool' }, ({ role }) => role === 'tool'],
    [{ role: roles[2] as string }, ({ role }) => role === roles[2]],
    [{ role: 'TOOL' }, () => false],
    [{ kind: 'name' }, () => false],
    [{ history: 'h1' }, ({ history }) => history === 'h1'],
    [{ history: 'none' }, () => false],
    [
      { history: 'h1', path: [{ branchId: 1, limit: 30 }] },
      ({ history, branchId, seq }) => history === 'h1' && branchId === 1 && seq <= 30,
    ],
    [{ history: 'h1', path: [] }, () => false],
    [{ since: 12 }, ({ at }) => at >= 12],
    [{ until: 44 }, ({ at }) => at <= 44],
    [{ since: 38, until: 41, kind: 'content' }, ({ at }) => at >= 38 && at <= 41],
    [{ since: 60 }, () => false],
  ];
  for (const [filter, test] of cases) {
    const { seqs, total } = await found([word('ferry')], filter);
    expect({ filter, seqs: [...seqs].sort((a, b) => b - a), total }).toEqual({
      filter,
      seqs: where(test),
      total: where(test).length,
    });
  }
  expect((await found([word('k', true)])).total).toBe(60);
  expect((await found([word('kname')])).total).toBe(0);
});

it('of many matches the newest come first and no more are counted; a word that nearly all have decides no order', async () => {
  const index = await openIndexFile(directory, () => undefined);
  const many = Array.from({ length: 50_010 }, (_, i): IndexedDocument => ({
    ...(DOCUMENTS[0] as IndexedDocument),
    seq: i,
    text: i % 5_000 === 0 ? (i === 20_000 ? 'sea gull gull' : 'sea gull and a text that is longer') : 'sea',
    ids: '',
  }));
  index.add(many, null, 'c1');
  index.close();
  const all = await found([word('sea')]);
  expect({ ...all, seqs: all.seqs.slice(0, 3) }).toEqual({
    seqs: [50_009, 50_008, 50_007],
    total: 20_000,
    more: true,
    ranked: false,
  });
  const both = await found([word('sea'), word('gull')]);
  expect({ ...both, seqs: both.seqs.slice(0, 2) }).toEqual({
    seqs: [20_000, 50_000],
    total: 11,
    more: false,
    ranked: true,
  });
  const phrase = await found([{ words: ['sea', 'sea'], name: null, prefix: false, not: false }]);
  expect(phrase).toEqual({ seqs: [], total: 0, more: false, ranked: true });
}, 60_000);

/** Pieces that names, numbers and scripts without spaces are made of. */
const PIECE = fc.constantFrom(
  ...['get', 'User', 'Name', 'HTTP', 'name', 'ID', '7', '42', '_', '-', '.', ' ', '/'],
  ...['시간표', '를', '결제', '東京', 'の', 'ตาราง', 'é', 'É', 'ß', 'Ｗ'],
);
const TEXTS = fc.array(
  fc.array(PIECE, { maxLength: 8 }).map((pieces) => pieces.join('')),
  {
    minLength: 1,
    maxLength: 12,
  },
);

/** Whether a text has a term, by its definition and without an index. */
const hasTerm = (text: string, { words: wanted, name, prefix }: Term): boolean => {
  const { words, names } = cutText(text);
  const isLike = (here: string, one: string, isLast: boolean): boolean =>
    prefix && isLast ? here.startsWith(one) : here === one;
  const whole = name ?? (wanted.length === 1 ? wanted[0] : undefined);
  return (
    words.some((_, at) =>
      wanted.every((one, i) => isLike(words[at + i]?.word ?? ' ', one, i === wanted.length - 1)),
    ) ||
    (whole !== undefined && [...words, ...names].some(({ word: here }) => isLike(here, whole, true)))
  );
};

it('finds in names and in scripts without spaces exactly what a search through all texts finds', async () => {
  await fc.assert(
    fc.asyncProperty(TEXTS, TEXTS, async (texts, queries) => {
      const home = mkdtempSync(join(directory, 'own-'));
      const index = await openIndexFile(home, () => undefined);
      index.add(
        texts.map((text, seq) => ({ ...(DOCUMENTS[0] as IndexedDocument), seq, text, ids: '' })),
        null,
        'c1',
      );
      for (const [i, query] of [...queries, ...texts].entries()) {
        const wanted = i % 3 === 0 ? `"${query}"` : i % 3 === 1 ? query.replaceAll('-', ' ') : `${query}*`;
        let terms: readonly Term[];
        try {
          terms = parseQuery(wanted);
        } catch {
          continue;
        }
        const { documents } = index.find(terms, {}, { skip: 0, limit: 100 });
        const expected = texts.flatMap((text, seq) =>
          terms.every((term) => hasTerm(text, term) !== term.not) ? [seq] : [],
        );
        expect(documents.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(expected);
      }
      index.close();
    }),
    { numRuns: sized(100, 20) },
  );
}, 60_000);
