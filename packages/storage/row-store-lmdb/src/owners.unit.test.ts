import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { Bytes } from './lmdb-environment.ts';
import { ownRecords, removeSome } from './own-records.ts';
import { ownersOf, uintBytes } from './owners.ts';

type Range = { readonly start?: Buffer; readonly end?: Buffer; readonly limit?: number };

/** A tree in memory, as much of it as the store's own records use. */
const openTree = () => {
  const kept = new Map<string, Buffer>();
  const keysIn = ({ start, end, limit }: Range): Buffer[] =>
    [...kept.keys()]
      .map((text) => Buffer.from(text, 'hex'))
      .sort((a, b) => Buffer.compare(a, b))
      .filter(
        (key) =>
          (start === undefined || Buffer.compare(key, start) >= 0) &&
          (end === undefined || Buffer.compare(key, end) < 0),
      )
      .slice(0, limit);
  const tree = {
    getBinaryFast: (key: Buffer) => kept.get(key.toString('hex')),
    putSync: (key: Buffer, value: Uint8Array) => void kept.set(key.toString('hex'), Buffer.from(value)),
    removeSync: (key: Buffer) => kept.delete(key.toString('hex')),
    getKeys: (range: Range) => keysIn(range),
    getRange: (range: Range) => keysIn(range).map((key) => ({ key, value: kept.get(key.toString('hex')) })),
  } as unknown as Bytes;
  return { tree, kept };
};

const key = (text: string): Buffer => Buffer.from(text);

it('a record is given back as it was put, and one with a changed bit, or under another key, is damaged', () => {
  const { tree, kept } = openTree();
  const records = ownRecords(tree, 'g');
  const damaged = expect.objectContaining({
    code: 'E_ROWS_DAMAGED',
    detail: { generation: 'g', table: 'own' },
  }) as Error;
  records.put(key('a'), Buffer.from('one'));
  records.put(key('b'), Buffer.of());
  expect(records.get(key('a'))?.toString()).toBe('one');
  expect(records.get(key('b'))?.length).toBe(0);
  expect(records.get(key('c'))).toBeUndefined();
  const [sealed] = [...kept.values()];
  kept.set(key('c').toString('hex'), sealed as Buffer);
  expect(() => records.get(key('c'))).toThrow(damaged);
  expect(() => [...records.range(key('a'), key('z'))]).toThrow(damaged);
  records.remove(key('c'));
  expect([...records.range(key('a'), key('b'))].map((each) => each.key.toString())).toEqual(['a']);
  expect([...records.range(key('a'), key('c'))].map(({ value }) => value.toString())).toEqual(['one', '']);
  for (let i = 0; i < (sealed?.length ?? 0); i++) {
    const changed = Buffer.from(sealed as Buffer);
    changed[i] = (changed[i] ?? 0) ^ 1;
    kept.set(key('a').toString('hex'), changed);
    expect(() => records.get(key('a')), `byte ${i}`).toThrow(damaged);
  }
  expect(() => ownRecords(tree).get(key('a'))).toThrow(
    expect.objectContaining({ detail: { generation: 'the store', table: 'own' } }) as Error,
  );
});

it('keys of a range are removed 10,000 at a time, until there are none', () => {
  const { tree, kept } = openTree();
  for (let n = 0; n < 10_003; n++) tree.putSync(uintBytes(n), Buffer.of(1));
  tree.putSync(Buffer.of(0xff), Buffer.of(1));
  const some = (): boolean => removeSome(tree, uintBytes(0), Buffer.of(0xff));
  expect([some(), kept.size]).toEqual([true, 4]);
  expect([some(), kept.size]).toEqual([true, 1]);
  expect([some(), kept.size]).toEqual([false, 1]);
  expect([ownRecords(tree).removeSome(uintBytes(0), Buffer.of(0xff)), kept.size]).toEqual([false, 1]);
});

const HEAD = Buffer.of(0x01, 0xf1);

it('owners have numbers in the order of their first rows, which stay theirs; what was not committed is forgotten', () => {
  const anyName = fc.constantFrom('a', 'b', 'c', 'd', 'e', '', 'ü🏮');
  fc.assert(
    fc.property(
      fc.array(fc.record({ names: fc.array(anyName, { maxLength: 4 }), commits: fc.boolean() }), {
        maxLength: 8,
      }),
      (transactions) => {
        const { tree, kept } = openTree();
        const owners = ownersOf(ownRecords(tree), HEAD);
        const expected = new Map<string, number>();
        for (const { names, commits } of transactions) {
          const before = new Map(kept);
          const fresh = new Map(expected);
          for (const name of names) {
            const number = fresh.get(name) ?? fresh.size;
            fresh.set(name, number);
            expect(owners.assign(name).number).toBe(number);
            expect(owners.find(name)?.number).toBe(number);
          }
          if (commits) for (const [name, number] of fresh) expected.set(name, number);
          else {
            kept.clear();
            for (const [each, value] of before) kept.set(each, value);
          }
          owners.endTransaction(commits);
          for (const name of ['a', 'b', 'c', 'nobody']) {
            expect(owners.find(name)?.number).toBe(expected.get(name));
            expect(ownersOf(ownRecords(tree), HEAD).find(name)).toEqual(owners.find(name));
          }
          const all = [...owners.all()].map(([number, { text }]) => [text, number]);
          expect(new Map(all as [string, number][])).toEqual(expected);
          for (const [number, { text, hash }] of owners.all())
            expect(owners.find(text)).toEqual({ number, hash });
        }
      },
    ),
    { numRuns: 60 },
  );
});

it('owners of one generation are not those of another, and owners of different names have different hashes', () => {
  const { tree } = openTree();
  const [one, two] = [HEAD, Buffer.of(0x01, 0xf2)].map((head) => ownersOf(ownRecords(tree), head));
  if (one === undefined || two === undefined) throw new Error('there are two');
  const [a, b] = [one.assign('a'), one.assign('b')];
  expect(two.find('a')).toBeUndefined();
  expect([a.number, b.number, two.assign('b').number]).toEqual([0, 1, 0]);
  expect(a.hash).not.toBe(b.hash);
  expect([one.all().size, two.all().size]).toEqual([2, 1]);
});

it('an owner that is known is not looked up again', () => {
  const { tree, kept } = openTree();
  const owners = ownersOf(ownRecords(tree), HEAD);
  const { number } = owners.assign('a');
  owners.endTransaction(true);
  kept.clear();
  expect(owners.find('a')?.number).toBe(number);
});

it('of many owners the numbers of the newest are known without a look, and all have their own', () => {
  const { tree } = openTree();
  const looks = vi.spyOn(tree, 'getBinaryFast');
  const owners = ownersOf(ownRecords(tree), key('h'));
  for (let n = 0; n < 12_000; n++) {
    owners.assign(`owner ${n}`);
    owners.endTransaction(true);
  }
  looks.mockClear();
  for (let n = 11_000; n < 12_000; n++) expect(owners.find(`owner ${n}`)?.number).toBe(n);
  expect(looks).not.toHaveBeenCalled();
  for (let n = 0; n < 10; n++) expect(owners.find(`owner ${n}`)?.number).toBe(n);
  expect(looks).toHaveBeenCalledTimes(10);
});
