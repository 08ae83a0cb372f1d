import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { foundFiles } from './found-files.ts';

const root = join(import.meta.dirname, '..');

/** Where a file skips tests without giving a reason, by line: `skipIf`, `runIf`, `todo`, and a `skip` without one text. */
const unexplainedSkips = (file: string, source: string): string[] => {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, false);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const { expression, arguments: given } = node;
      const name = ts.isIdentifier(expression)
        ? expression.text
        : ts.isPropertyAccessExpression(expression)
          ? expression.name.text
          : '';
      if (['skipIf', 'runIf', 'todo'].includes(name) || (name === 'skip' && given.length !== 1)) {
        const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
        found.push(`${file}:${line + 1}: ${name}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
};

it('a skip without a reason is found', () => {
  const source =
    "it.skip('a', work);\nit('b', ({ skip }) => skip());\ndescribe.skipIf(x)('c', all);\nit('d', (test) => test.skip('no x'));\n";
  expect(unexplainedSkips('a', source)).toEqual(['a:1: skip', 'a:2: skip', 'a:3: skipIf']);
});

it('every skip of a test gives its reason', () => {
  const files = foundFiles(root, [
    ...['packages/*/*', 'services/*', 'examples/*', 'bench', 'scripts'].map(
      (folder) => `${folder}/**/*.test.{ts,tsx}`,
    ),
    'packages/*/*/src/contract/**/*.ts',
  ]);
  expect(files.flatMap((file) => unexplainedSkips(file, readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
