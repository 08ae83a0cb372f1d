import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportedTypesIn, typesOfOneName } from './exported-types.ts';
import { wrongNames } from './names-check.ts';
import { oldNameUses, oldWordUses } from './old-word-uses.ts';

describe('exported types', () => {
  const namesIn = (source: string) =>
    exportedTypesIn('packages/room/a/src/x.ts', source).map(({ name, line }) => `${line} ${name}`);

  it.each([
    ['a type', 'export type Order = { id: string };', ['1 Order']],
    ['a class', '\nexport abstract class Order {}', ['2 Order']],
    [
      'a schema',
      'export const Order = z.object({});\nexport type Order = z.infer<typeof Order>;',
      ['2 Order'],
    ],
    [
      'a list of what is declared above',
      'type Order = 1;\nexport { Order as Purchase, ship };',
      ['2 Purchase'],
    ],
    ['not what another file declares', "export { type Order, type Cart as Basket } from './order.ts';", []],
    ['not values', 'export const Order = 1;\nexport function Cart() {}', []],
  ])('are found in a file: %s', (_what, source, expected) => {
    expect(namesIn(source)).toEqual(expected);
  });

  it('of one name in two files are refused, and the message names both files', () => {
    const a = exportedTypesIn(
      'packages/room/a/src/order.ts',
      'export type Order = 1;\nexport type Cart = 1;',
    );
    const b = exportedTypesIn('services/b/src/main.ts', '\nexport interface Order {}');
    expect(typesOfOneName([...a, ...b])).toEqual([
      'packages/room/a/src/order.ts:1, services/b/src/main.ts:2: Order is exported twice. Put the subject of the package in front.',
    ]);
  });
});

describe('old words', () => {
  const found = (text: string, file = 'packages/room/a/src/x.ts') =>
    oldWordUses(file, text).map(({ line, found: word }) => `${line} ${word}`);

  it.each([
    ['in an identifier', 'const strandOf = 1;', ['1 strand']],
    ['in capitals', "const A = 'OLD_STRANDS';", ['1 strands']],
    ['in a comment', '\n/** Of a Vista. */', ['2 vista']],
    ['in a text', "f('the lanes are full')", ['1 lanes']],
    ['of two words, as one name', 'openFarRows(); // far-rows.ts', ['1 far rows', '1 far rows']],
    ['of two words, over the lines of a comment', '/**\n * These are far\n * rows.\n */', ['2 far rows']],
    ['not as part of other words', 'Stemma, planes, interact, discourse', []],
    ['not over the end of a sentence', 'It is far. Rows come.', []],
    ['not of another sense', 'Of course, a hash chain and a Markov chain.', []],
  ])('are found %s', (_where, text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it('are found in the name of a file', () => {
    expect(oldWordUses('packages/room/a/src/open-vista.ts', '')).toEqual([
      { file: 'packages/room/a/src/open-vista.ts', line: 0, found: 'vista', say: 'ancestry view' },
    ]);
  });

  it('are allowed in the one file that needs them, and reported in all others', () => {
    expect(found('const { lineage } = body;', 'packages/storage/log/src/body.ts')).toEqual([]);
    expect(found('const { lineage } = body;', 'packages/storage/log/src/other.ts')).toEqual(['1 lineage']);
  });

  it.each([
    ['LogPlace', ['place']],
    ['marks', ['marks']],
    ['Line', ['line']],
    ['SkippedLine', []],
    ['thread-parts', []],
    ['Placement', []],
  ])('that are allowed in sentences are refused in names: %s', (name, expected) => {
    expect(oldNameUses('x.ts', 1, name).map(({ found: word }) => word)).toEqual(expected);
  });
});

describe('the check of a checkout', () => {
  let root: string;
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'stemma-names-'));
  });
  afterAll(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('reports file, line, old word and new word for every old word', () => {
    write('README.md', '# Shop\n\nEvery lane is open.\n');
    write('docs/a.svg', '<text>vistas</text>');
    write('packages/room/a/src/index.ts', "export { type Cart } from './cart.ts';\n");
    write(
      'packages/room/a/src/cart.ts',
      'export type Cart = { place: string };\nexport type CartPlace = 1;\n',
    );
    write('packages/room/a/src/marks.ts', 'export const marks = 1;\n');
    write('packages/room/a/src/cart.test.ts', "export type Cart = 'in a test';\n");
    write('packages/a/node_modules/b/index.ts', 'export type Vista = 1;\n');
    write('services/b/src/main.tsx', 'export type Cart = 1;\nconst strand = <p>far rows</p>;\n');

    expect(wrongNames(root)).toEqual([
      'packages/room/a/src/cart.ts:1, services/b/src/main.tsx:1: Cart is exported twice. Put the subject of the package in front.',
      'README.md:3: lane: say partition writer.',
      'docs/a.svg:1: vistas: say ancestry view.',
      'services/b/src/main.tsx:2: strand: say branch id.',
      'services/b/src/main.tsx:2: far rows: say remote rows, external projection.',
      'packages/room/a/src/marks.ts: marks: say position metadata; of a writer: savepoint.',
      'packages/room/a/src/cart.ts:2: place: say location, read basis, checkpoint or entry offset.',
    ]);
  });
});
