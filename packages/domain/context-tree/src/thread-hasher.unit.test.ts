import { sha256 } from '@stemma/canonical';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ThreadHasher } from './thread-hasher.ts';

const digestOf = (value: number): string => Buffer.from(sha256(String(value))).toString('latin1');

test(
  'after any additions, removals and changes of turns the hasher returns the hash of all slices in order',
  { tags: ['snapshots:thread-hash'] },
  () => {
    const edit = fc.record({ add: fc.nat(90), drop: fc.nat(70), at: fc.nat(400), sys: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 12 }), (edits) => {
        const hasher = new ThreadHasher();
        const turns: string[] = [];
        edits.forEach(({ add, drop, at, sys }, round) => {
          for (let i = 0; i < add; i++) turns.push(digestOf(1000 * round + i));
          const from = at % (turns.length + 1);
          if (at % 3 === 0) turns.splice(from, drop);
          else if (from < turns.length) turns[from] = digestOf(at + 7);
          hasher.cut(from);
          const all = [digestOf(sys), ...turns, digestOf(at)].join('');
          expect(hasher.hash(digestOf(sys), turns.length, (i) => turns[i] as string, digestOf(at))).toEqual(
            sha256(Buffer.from(all, 'latin1')),
          );
        });
      }),
    );
  },
);
