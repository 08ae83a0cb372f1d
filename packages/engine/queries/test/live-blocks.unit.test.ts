import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openFullThread, openPreThread, type LiveBlock, type LiveBlocks } from '../src/impact/live-blocks.ts';

type Act =
  | {
      readonly act: 'put';
      readonly id: string;
      readonly depth: number;
      readonly expires: number | null;
      readonly pre: LiveBlock['pre'];
    }
  | { readonly act: 'drop'; readonly id: string }
  | { readonly act: 'prompt'; readonly pause: number; readonly turn: number };

const anyId = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const anyAct: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    act: fc.constant('put' as const),
    id: anyId,
    depth: fc.nat(3),
    expires: fc.option(fc.nat(12)),
    pre: fc.constantFrom('always' as const, 'never' as const, 1, 2, 3),
  }),
  fc.record({ act: fc.constant('drop' as const), id: anyId }),
  fc.record({ act: fc.constant('prompt' as const), pause: fc.nat(3), turn: fc.constantFrom(0, 1, 2, 3) }),
);

it.each([
  ['full', openFullThread, () => true],
  ['pre', openPreThread, ({ pre }: LiveBlock, turn: number) => pre === 'always' || pre === turn],
] as const)(
  'what a prompt of the %s thread holds is what a list of all blocks gives',
  { tags: ['pool:impact'] },
  (_, open: () => LiveBlocks, shows: (block: LiveBlock, turn: number) => boolean) => {
    fc.assert(
      fc.property(fc.array(anyAct, { minLength: 1, maxLength: 50, size: 'max' }), (changes) => {
        const blocks = open();
        const all = new Map<string, LiveBlock>();
        let [cycle, seq] = [0, 0];
        for (const each of changes) {
          seq++;
          if (each.act === 'put') {
            const { id, depth, expires, pre } = each;
            const block = { id, seq, branchId: 0, depth, reason: { kind: 'brought' } } as const;
            const live = { block, payload: seq, expires, pre };
            blocks.put(live);
            all.delete(id);
            all.set(id, live);
          } else if (each.act === 'drop') {
            blocks.drop(each.id);
            all.delete(each.id);
          } else {
            cycle += each.pause;
            const held = [...all.values()].filter(
              (live) => (live.expires === null || live.expires > cycle) && shows(live, each.turn),
            );
            const depths = held.map(({ block }) => block.depth);
            const found = blocks.promptOf(cycle, each.turn);
            expect(found === null).toBe(held.length === 0);
            const direct = held.filter(({ block }) => block.depth === 0);
            expect(new Set(blocks.direct(cycle, each.turn))).toEqual(new Set(direct));
            if (found === null) continue;
            expect([found.direct, found.derived]).toEqual([direct.length, held.length - direct.length]);
            expect(found.nearest.depth).toBe(Math.min(...depths));
            expect(held.map(({ block }) => block)).toContain(found.nearest);
          }
          expect([...blocks.all()]).toEqual([...all.values()]);
          for (const id of ['a', 'b', 'c']) expect(blocks.get(id)).toBe(all.get(id));
        }
      }),
      { numRuns: 300 },
    );
  },
);
