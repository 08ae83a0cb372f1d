import ts from 'typescript';
import { isOfLongStage, LONG } from './test-tiers.ts';

/** A test that proves rules: `test('an expired container takes its subtree', { tags: ['context-tree§3.1'] }, …)`. */
export type Claim = {
  readonly file: string;
  readonly title: string;
  readonly tags: readonly string[];
  /** True if only the long stage runs it. */
  readonly isLong: boolean;
};

/** The claims of one test file, in its order: each object with `tags`, below a title or beside one in a table of tests. */
export function claimsOf(file: string, source: string): Claim[] {
  const claims: Claim[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isPropertyAssignment(node) &&
      nameOf(node) === 'tags' &&
      ts.isArrayLiteralExpression(node.initializer)
    ) {
      const all = node.initializer.elements.flatMap((element) => textOf(element) ?? []);
      const tags = all.filter((tag) => tag !== LONG);
      const isLong = isOfLongStage(file) || all.includes(LONG);
      claims.push({ file, title: titleOf(node.parent), tags, isLong });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  return claims;
}

/** The titles of one test file that cite a rule in square brackets, for which tags are. */
export function titlesThatCite(file: string, source: string, documents: readonly string[]): string[] {
  const cites = new RegExp(`\\[(?:${documents.join('|')}|decision)(?::| )[^\\]]*\\]`);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const [first] = ts.isCallExpression(node) ? node.arguments : [];
    const title = first && textOf(first);
    if (title !== undefined && cites.test(title)) found.push(`${file}: "${title}"`);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, false));
  return found;
}

function titleOf(options: ts.ObjectLiteralExpression): string {
  const beside = options.properties.find((property) => nameOf(property) === 'title');
  const title = beside && ts.isPropertyAssignment(beside) ? beside.initializer : undefined;
  const above = ts.isCallExpression(options.parent) ? options.parent.arguments[0] : undefined;
  const node = title ?? above;
  return (node && textOf(node)) ?? '';
}

function nameOf(property: ts.ObjectLiteralElementLike): string | undefined {
  return property.name && ts.isIdentifier(property.name) ? property.name.text : undefined;
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…');
}
