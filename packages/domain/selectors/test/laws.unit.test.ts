import { flattenRecords, type FlatTree, type PayloadSource } from '@stemma/context-tree';
import {
  anyOperations,
  anySelector,
  naiveHistory,
  perform,
  referenceSelect,
  START,
  type RandomOperation,
  sized,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  parseSelector,
  printSelector,
  select,
  type Compound,
  type Selector,
  type SelectorGroup,
} from '../src/index.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(50, 150));

/** The tree of a random history at its end, with the payloads of its nodes. */
const treeOf = (operations: readonly RandomOperation[]): { tree: FlatTree; payloads: PayloadSource } => {
  const history = naiveHistory(() => undefined);
  history.run(0, [START]);
  for (const operation of operations) perform(history, operation);
  const branchId = [...history.branches.keys()].at(-1) ?? 0;
  return {
    tree: flattenRecords(history.copyAt(branchId, history.state.next - 1)),
    payloads: history.payload,
  };
};

const anyTree = fc
  .array(anyOperations(5, 40), { minLength: 1, maxLength: 1 })
  .map(([operations]) => treeOf(operations ?? []));
const anyAsked = anyTree.chain(({ tree, payloads }) =>
  fc.record({
    tree: fc.constant(tree),
    payloads: fc.constant(payloads),
    selector: anySelector({ ids: tree.ids }),
  }),
);
const appeared = (index: number): number => index % 4;

/** The same selector with every position at 0, as a random one has it. */
const unplaced = ({ at, groups }: Selector): Selector => ({
  at,
  groups: groups.map((group) =>
    group.map(({ combinator, compound }) => ({
      combinator,
      position: 0,
      compound:
        compound.kind === 'node'
          ? { ...compound, attributes: compound.attributes.map((each) => ({ ...each, position: 0 })) }
          : compound,
    })),
  ),
});

const SCOPES: Readonly<Record<string, Compound>> = {
  '^sys': { kind: 'scope', depths: { kind: 'list', values: [-1] } },
  '^ah': { kind: 'scope', depths: { kind: 'list', values: [0] } },
  '^seq': { kind: 'scope', depths: { kind: 'order', op: '>=', value: 1 } },
};

const isBare = (compound: Compound): boolean =>
  compound.kind === 'node' &&
  compound.root !== null &&
  (compound.id ?? compound.type) === null &&
  compound.attributes.length + compound.pseudos.length === 0;

/** Every root that another compound follows, replaced by its scope. */
const withScopes = (group: SelectorGroup): SelectorGroup =>
  group.map((step, i) => {
    const { compound } = step;
    if (compound.kind !== 'node' || !isBare(compound) || i === group.length - 1) return step;
    return { ...step, compound: SCOPES[compound.root ?? ''] ?? compound };
  });

describe('the language of selectors', () => {
  test(
    'a printed selector is read as the selector it was printed from',
    { tags: ['context-tree§6:grammar'] },
    () => {
      const markers = fc.constantFrom<Selector['at']>(
        { kind: 'working' },
        { kind: 't', value: -3 },
        { kind: 'c', cycle: 7 },
        { kind: 's', seq: 12 },
        { kind: 'name', name: 'before_2.x' },
        { kind: 'all' },
        { kind: 'range', of: 't', from: -5, to: 0 },
        { kind: 'range', of: 'c', from: 9, to: 3 },
      );
      fc.assert(
        fc.property(anySelector({ ids: ['a', 'cb:u2:first', '-x_'] }), markers, (selector, at) => {
          const given = { at, groups: selector.groups };
          const read = parseSelector(printSelector(given), { snapshot: true });
          expect(unplaced(read)).toEqual(given);
          expect(printSelector(read)).toBe(printSelector(given));
        }),
        { numRuns: RUNS * 4 },
      );
    },
  );

  test(
    'on random trees it selects what a literal implementation of the rules selects',
    {
      tags: [
        'context-tree§6:zones',
        'context-tree§6:scopes',
        'context-tree§6:counting',
        'context-tree§6:attributes',
        'context-tree§6:comparison',
        'context-tree§6:types-and-ids',
        'context-tree§6:result-order',
        'context-tree§10.24',
        'context-tree§10.25',
        'context-tree§10.26',
        'context-tree§10.27',
        'context-tree§10.28',
        'context-tree§10.29',
        'context-tree§10.30',
      ],
    },
    () => {
      fc.assert(
        fc.property(anyAsked, ({ tree, payloads, selector }) => {
          const wanted = referenceSelect(tree, selector, payloads, appeared);
          expect(select(tree, selector, payloads, { appeared }), printSelector(selector)).toEqual(wanted);
        }),
        { numRuns: RUNS * 4 },
      );
    },
  );

  test(
    'a root that another compound follows is another name for its scope',
    { tags: ['context-tree§6:scopes'] },
    () => {
      fc.assert(
        fc.property(anyAsked, ({ tree, payloads, selector }) => {
          const other = { ...selector, groups: selector.groups.map(withScopes) };
          expect(select(tree, other, payloads, { appeared }), printSelector(selector)).toEqual(
            select(tree, selector, payloads, { appeared }),
          );
        }),
        { numRuns: RUNS * 2 },
      );
    },
  );

  test(
    'the same selector on the same tree gives the same again, and a window of it, and changes nothing',
    { tags: ['context-tree§6:pure', 'context-tree§6:windows', 'context-tree§10.34', 'PACT-06§3.1'] },
    () => {
      fc.assert(
        fc.property(anyAsked, fc.nat(4), fc.nat(4), ({ tree, payloads, selector }, skip, limit) => {
          const before = structuredClone({ ...tree, indexOf: null });
          const ids = select(tree, selector, payloads, { appeared });
          expect(select(tree, selector, payloads, { appeared })).toEqual(ids);
          expect(select(tree, selector, payloads, { appeared, skip, limit })).toEqual(
            ids.slice(skip, skip + limit),
          );
          expect(structuredClone({ ...tree, indexOf: null })).toEqual(before);
        }),
        { numRuns: RUNS },
      );
    },
  );
});
