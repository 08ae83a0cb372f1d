import type {
  Attribute,
  Compound,
  Depths,
  Pseudo,
  Root,
  Selector,
  SelectorGroup,
  SelectorStep,
  SelectorValue,
} from '@stemma/selectors';
import fc from 'fast-check';

/** What random selectors ask for: few values, so that they often match. */
export type Words = { readonly ids: readonly string[]; readonly values?: readonly SelectorValue[] };

const depth = fc.integer({ min: -2, max: 4 });

export const anyDepths: fc.Arbitrary<Depths> = fc.oneof(
  fc.array(depth, { minLength: 1, maxLength: 3 }).map((values): Depths => ({ kind: 'list', values })),
  fc.tuple(depth, fc.nat(4)).map(([from, more]): Depths => ({ kind: 'span', from, to: from + more })),
  fc
    .tuple(fc.constantFrom('<', '<=', '>', '>=' as const), depth)
    .map(([op, value]): Depths => ({ kind: 'order', op, value })),
);

const anyPseudo: fc.Arbitrary<Pseudo> = fc.oneof(
  fc.constantFrom<Pseudo>(
    { name: 'pre' },
    { name: 'core' },
    { name: 'post' },
    { name: 'first' },
    { name: 'last' },
  ),
  fc.integer({ min: 1, max: 3 }).map((n): Pseudo => ({ name: 'nth', n })),
  anyDepths.map((depths): Pseudo => ({ name: 'depth', depths })),
  fc.constantFrom('', 'e', 'te', 'user', '😀', "it's").map((text): Pseudo => ({ name: 'contains', text })),
);

const KEYS = [
  'id', 'nodeType', 'offset', 'ttl', 'priority', 'cycle', 'role', 'kind', 'key', 'removable', 'refs', 'data_x', 'content_y',
  'created_at_ns', 'created_at_iso', 'creation_index', 'content', 'provenance', 'content_hash', 'nothing',
] as const; // prettier-ignore
const ON_SNAPSHOTS = ['depth', 'age', 'born_turn'] as const;

const VALUES: readonly SelectorValue[] = [
  null, true, false, 0, 1, 2, 5, -1, 9.5, 1e21, 1_700_000_000_000_003_000n, '', 'user', 'true', '1', '10', 'text', 'mc', 'cb', "it's \\ \"q\"", '😀',
]; // prettier-ignore

const anyAttribute = (snapshot: boolean, values: readonly SelectorValue[]): fc.Arbitrary<Attribute> =>
  fc
    .record({
      key: fc.constantFrom<string>(...KEYS, ...(snapshot ? ON_SNAPSHOTS : [])),
      op: fc.constantFrom('=', '=', '!=', '*=', '<', '<=', '>', '>=', null),
      value: fc.constantFrom(...values),
      position: fc.constant(0),
    })
    .map(
      ({ value, ...rest }) =>
        ({
          ...rest,
          value: rest.op === null ? null : rest.op === '*=' ? String(value).slice(0, 2) : value,
        }) as Attribute,
    );

const anyCompound = (words: Words, snapshot: boolean): fc.Arbitrary<Compound> => {
  const values = [...VALUES, ...(words.values ?? []), ...words.ids.slice(0, 3)];
  const pseudos = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Pseudo[]>([]) },
    { weight: 2, arbitrary: fc.array(anyPseudo, { minLength: 1, maxLength: 3 }) },
  );
  const attributes = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Attribute[]>([]) },
    { weight: 2, arbitrary: fc.array(anyAttribute(snapshot, values), { minLength: 1, maxLength: 2 }) },
  );
  const type = fc.constantFrom(
    null, { name: 'cb', sub: null }, { name: 'cb', sub: null }, { name: 'mt', sub: null }, { name: 'mc', sub: null },
    { name: 'cb', sub: 'text' }, { name: 'custom', sub: 'note' },
  ); // prettier-ignore
  const part = fc
    .record({
      kind: fc.constant('node' as const),
      root: fc.oneof(
        { weight: 5, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.constantFrom<Root>('^root', '^sys', '^seq', '^ah') },
      ),
      id: fc.oneof(
        { weight: 7, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.constantFrom(...words.ids) },
      ),
      type,
      attributes,
      pseudos,
    })
    .filter(
      ({ root, id, type: named, attributes: asked, pseudos: said }) =>
        // What the text of a selector can say: something, and no pseudo right behind an id.
        (root ?? id ?? named ?? asked[0] ?? said[0]) !== undefined &&
        !(id !== null && named === null && asked.length === 0 && said.length > 0) &&
        [root, id, named, asked[0], said[0]].some((each) => each != null),
    );
  const bare = fc
    .constantFrom<Root>('^root', '^sys', '^seq', '^ah')
    .map((root): Compound => ({ kind: 'node', root, id: null, type: null, attributes: [], pseudos: [] }));
  const zone = fc.constantFrom('pre' as const, 'core' as const, 'post' as const).map((name): Compound => ({
    kind: 'node',
    root: null,
    id: null,
    type: null,
    attributes: [],
    pseudos: [{ name }],
  }));
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant<Compound>({ kind: 'any' }) },
    { weight: 1, arbitrary: anyDepths.map((depths): Compound => ({ kind: 'scope', depths })) },
    { weight: 2, arbitrary: bare },
    { weight: 2, arbitrary: zone },
    { weight: 8, arbitrary: part },
  );
};

/** A selector without a marker, as the parser would give it but for the positions, which are all 0. */
export const anySelector = (words: Words, { snapshot = true } = {}): fc.Arbitrary<Selector> => {
  const group: fc.Arbitrary<SelectorGroup> = fc
    .array(
      fc.tuple(
        fc.constantFrom('descendant' as const, 'descendant' as const, 'child' as const),
        anyCompound(words, snapshot),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((steps) =>
      steps.map(([combinator, compound], i): SelectorStep => ({
        combinator: i === 0 ? 'start' : combinator,
        compound,
        position: 0,
      })),
    );
  return fc
    .array(group, { minLength: 1, maxLength: 2 })
    .map((groups) => ({ at: { kind: 'working' }, groups }));
};
