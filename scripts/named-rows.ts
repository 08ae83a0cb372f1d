import type { Linter, Rule } from 'eslint';
import type ts from 'typescript';

type CallExpression = Rule.Node & { readonly type: 'CallExpression' };

/** Columns that a key or a value may have and still be read and written by their order. */
const MOST_CELLS = 3;

/**
 * What writes or reads a row for each node of a tree: cells in their order are faster than objects with names. The list only
 * shrinks.
 */
const HOT = [
  // They fold the nodes of a frame.
  'packages/rows/history-store/src/{fold-snapshots,turn-sums}.ts',
  'packages/rows/read-models/src/diffs/fold.ts',
  // They read the nodes of a tree.
  'packages/rows/history-store/src/{block-versions,node-reader,read-position,thread-timeline-rows}.ts',
];

/** True for a table whose key or value has more columns than may be told apart by their order. */
const isWide = (checker: ts.TypeChecker, table: ts.Type): boolean =>
  table.isUnion()
    ? table.types.some((each) => isWide(checker, each))
    : table.getProperty('about') !== undefined &&
      ['key', 'value'].some((columns) => {
        const property = table.getProperty(columns);
        const type = property && checker.getTypeOfSymbol(property);
        return (
          type !== undefined &&
          checker.isTupleType(type) &&
          checker.getTypeArguments(type as ts.TypeReference).length > MOST_CELLS
        );
      });

type TypeServices = {
  readonly program: ts.Program;
  readonly esTreeNodeToTSNodeMap: { get(node: unknown): ts.Node };
};

const columnsHaveNames: Rule.RuleModule = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const { program, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices as unknown as TypeServices;
    const checker = program.getTypeChecker();
    return {
      'CallExpression[callee.property.name=/^(get|put|remove|range)$/]'({
        arguments: [table],
      }: CallExpression) {
        if (table === undefined) return;
        if (isWide(checker, checker.getTypeAtLocation(esTreeNodeToTSNodeMap.get(table))))
          context.report({
            node: table,
            message: `A table with more than ${MOST_CELLS} columns in its key or its value is read and written by their names: findRow, listRows, putRow, removeRow.`,
          });
      },
    };
  },
};

/** Rows have names, as ESLint configuration. */
export const namedRows: Linter.Config[] = [
  {
    files: ['packages/*/*/src/**/*.ts', 'services/*/src/**/*.ts'],
    ignores: ['**/*.test.ts', 'packages/rows/row-store/**', 'packages/testing/test-kit/**', ...HOT],
    plugins: { rows: { rules: { 'columns-have-names': columnsHaveNames } } },
    rules: { 'rows/columns-have-names': 'error' },
  },
];
