import ts from 'typescript';

/** A change of one node; `target` is what it replaces if that is not the node itself. */
export type Mutation = {
  readonly kind: string;
  readonly replacement: string;
  readonly target?: ts.Node;
  readonly isStatement?: boolean;
};

const { SyntaxKind } = ts;

/** Operators and what stands there instead. */
const OPERATORS: ReadonlyMap<ts.SyntaxKind, readonly (readonly [kind: string, operator: string])[]> = new Map(
  [
    [
      SyntaxKind.LessThanToken,
      [
        ['boundary', '<='],
        ['negated', '>='],
      ],
    ],
    [
      SyntaxKind.LessThanEqualsToken,
      [
        ['boundary', '<'],
        ['negated', '>'],
      ],
    ],
    [
      SyntaxKind.GreaterThanToken,
      [
        ['boundary', '>='],
        ['negated', '<='],
      ],
    ],
    [
      SyntaxKind.GreaterThanEqualsToken,
      [
        ['boundary', '>'],
        ['negated', '<'],
      ],
    ],
    [SyntaxKind.EqualsEqualsEqualsToken, [['negated', '!==']]],
    [SyntaxKind.ExclamationEqualsEqualsToken, [['negated', '===']]],
    [SyntaxKind.EqualsEqualsToken, [['negated', '!=']]],
    [SyntaxKind.ExclamationEqualsToken, [['negated', '==']]],
    [SyntaxKind.PlusToken, [['operator', '-']]],
    [SyntaxKind.MinusToken, [['operator', '+']]],
    [SyntaxKind.AsteriskToken, [['operator', '/']]],
    [SyntaxKind.SlashToken, [['operator', '*']]],
    [SyntaxKind.PercentToken, [['operator', '*']]],
    [SyntaxKind.AmpersandToken, [['operator', '|']]],
    [SyntaxKind.BarToken, [['operator', '&']]],
    [SyntaxKind.CaretToken, [['operator', '&']]],
    [SyntaxKind.LessThanLessThanToken, [['operator', '>>']]],
    [SyntaxKind.GreaterThanGreaterThanToken, [['operator', '<<']]],
    [SyntaxKind.GreaterThanGreaterThanGreaterThanToken, [['operator', '<<']]],
    [SyntaxKind.AmpersandAmpersandToken, [['logic', '||']]],
    [SyntaxKind.BarBarToken, [['logic', '&&']]],
  ],
);

/** Methods and what is called instead; `''`: nothing, what they are called on stays. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ['every', 'some'],
  ['some', 'every'],
  ['filter', ''],
  ['slice', ''],
  ['sort', ''],
  ['toSorted', ''],
  ['reverse', ''],
  ['toReversed', ''],
  ['find', 'findLast'],
  ['findLast', 'find'],
  ['findIndex', 'findLastIndex'],
  ['findLastIndex', 'findIndex'],
  ['indexOf', 'lastIndexOf'],
  ['lastIndexOf', 'indexOf'],
  ['push', 'unshift'],
  ['unshift', 'push'],
  ['pop', 'shift'],
  ['shift', 'pop'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['ceil', 'floor'],
  ['floor', 'ceil'],
  ['min', 'max'],
  ['max', 'min'],
]);

/** What is not changed: types, names that are imported, and the sentence and details of an error, which no rule fixes. */
export const isExcluded = (node: ts.Node): boolean =>
  ts.isTypeNode(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isImportDeclaration(node) ||
  ts.isExportDeclaration(node) ||
  isErrorText(node);

const isErrorText = (node: ts.Node): boolean => {
  if (ts.isSourceFile(node) || !ts.isCallExpression(node.parent)) return false;
  const { expression, arguments: given } = node.parent;
  return (
    ts.isIdentifier(expression) && expression.text === 'fail' && given.indexOf(node as ts.Expression) > 0
  );
};

export const mutationsOf = (node: ts.Node): readonly Mutation[] => {
  if (ts.isBinaryExpression(node)) return ofBinary(node);
  if (ts.isConditionalExpression(node)) return ofCondition(node.condition);
  if (ts.isIfStatement(node)) return ofCondition(node.expression);
  if (ts.isWhileStatement(node))
    return [{ kind: 'condition', replacement: 'false', target: node.expression }];
  if (ts.isPrefixUnaryExpression(node)) return ofPrefix(node);
  if (ts.isCallExpression(node)) return ofCall(node);
  if (ts.isNumericLiteral(node))
    return isName(node) ? [] : ofNumber(Number(node.text.replaceAll('_', '')), '');
  if (ts.isBigIntLiteral(node)) return ofNumber(Number(node.text.slice(0, -1)), 'n');
  if (node.kind === SyntaxKind.TrueKeyword) return [{ kind: 'constant', replacement: 'false' }];
  if (node.kind === SyntaxKind.FalseKeyword) return [{ kind: 'constant', replacement: 'true' }];
  if (ts.isSpreadAssignment(node)) return [{ kind: 'spread', replacement: '{}', target: node.expression }];
  if (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.parent))
    return [{ kind: 'spread', replacement: '[]', target: node.expression }];
  if (ts.isExpressionStatement(node)) return [{ kind: 'statement', replacement: '', isStatement: true }];
  if (ts.isBreakOrContinueStatement(node) && !ts.isCaseOrDefaultClause(node.parent) && !isLastOfCase(node))
    return [{ kind: 'statement', replacement: '', isStatement: true }];
  if (ts.isReturnStatement(node)) return ofReturn(node);
  return [];
};

const isLastOfCase = (node: ts.Node): boolean =>
  ts.isBlock(node.parent) && ts.isCaseOrDefaultClause(node.parent.parent);

const isName = (node: ts.Node): boolean => ts.isPropertyAssignment(node.parent) && node.parent.name === node;

const ofBinary = (node: ts.BinaryExpression): readonly Mutation[] => {
  const { left, right, operatorToken } = node;
  const [a, b] = [left.getText(), right.getText()];
  const found: Mutation[] = [];
  if (operatorToken.kind === SyntaxKind.PlusToken && (isText(left) || isText(right))) return [];
  for (const [kind, operator] of OPERATORS.get(operatorToken.kind) ?? [])
    found.push({
      kind,
      replacement: kind === 'logic' ? `(${a}) ${operator} (${b})` : `${a} ${operator} ${b}`,
    });
  const { kind } = operatorToken;
  if (kind === SyntaxKind.QuestionQuestionToken) found.push({ kind: 'fallback', replacement: a });
  if (kind === SyntaxKind.AmpersandAmpersandToken || kind === SyntaxKind.BarBarToken)
    found.push({ kind: 'operand', replacement: a }, { kind: 'operand', replacement: b });
  return found;
};

const isText = (node: ts.Expression): boolean => ts.isStringLiteral(node) || ts.isTemplateExpression(node);

const ofCondition = (target: ts.Expression): readonly Mutation[] => [
  { kind: 'condition', replacement: 'true', target },
  { kind: 'condition', replacement: 'false', target },
];

const ofPrefix = (node: ts.PrefixUnaryExpression): readonly Mutation[] =>
  node.operator === SyntaxKind.ExclamationToken ||
  (node.operator === SyntaxKind.MinusToken && !ts.isLiteralExpression(node.operand))
    ? [{ kind: 'operator', replacement: node.operand.getText() }]
    : [];

const ofNumber = (value: number, suffix: string): readonly Mutation[] =>
  Number.isSafeInteger(value)
    ? [value + 1, ...(value > 0 ? [value - 1] : [])].map((each) => ({
        kind: 'constant',
        replacement: `${each}${suffix}`,
      }))
    : [];

const ofCall = (node: ts.CallExpression): readonly Mutation[] => {
  const { expression } = node;
  // Within an optional chain the parts have no value of their own.
  if (
    !ts.isPropertyAccessExpression(expression) ||
    ts.isOptionalChain(node) ||
    ts.isOptionalChain(node.parent)
  )
    return [];
  const other = METHODS.get(expression.name.text);
  if (other === undefined) return [];
  const on = expression.expression.getText();
  const given = `(${node.arguments.map((each) => each.getText()).join(', ')})`;
  return [{ kind: 'method', replacement: other === '' ? on : `${on}.${other}${given}` }];
};

/** Only `return;`: without its value a function would not have its type. */
const ofReturn = (node: ts.ReturnStatement): readonly Mutation[] =>
  node.expression === undefined ? [{ kind: 'statement', replacement: '', isStatement: true }] : [];
