import ts from 'typescript';
import { type SpecDocument } from './spec-rules.ts';

/** A text in a test file that names rules of the spec: `an expired container takes its subtree [context-tree §3.1]`. */
export type Claim = { readonly file: string; readonly title: string; readonly references: readonly string[] };

/** The claims of one test file, in its order. Texts of tables and templates count like plain titles. */
export function claimsOf(file: string, source: string, documents: readonly SpecDocument[]): Claim[] {
  const claims: Claim[] = [];
  const visit = (node: ts.Node): void => {
    const text = textOf(node);
    if (text !== undefined) {
      const references = referencesIn(text, documents);
      if (references.length > 0) claims.push({ file, title: withoutReferences(text, documents), references });
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, false));
  return claims;
}

/** The references in square brackets: `[record §2: stale, §3; snapshots: read]` names three. */
export function referencesIn(text: string, documents: readonly SpecDocument[]): string[] {
  const references: string[] = [];
  for (const [, inside = ''] of text.matchAll(/\[([^[\]]+)\]/g)) {
    let document = documentOf(inside, documents);
    if (document === undefined) continue;
    for (const part of inside.split(/[,;]/).map((piece) => piece.trim())) {
      document = documentOf(part, documents) ?? document;
      references.push(part.startsWith(document) ? part : `${document} ${part}`);
    }
  }
  return references;
}

function withoutReferences(text: string, documents: readonly SpecDocument[]): string {
  return text
    .replace(/\s*\[([^[\]]+)\]/g, (whole, inside: string) => (documentOf(inside, documents) ? '' : whole))
    .trim();
}

function documentOf(reference: string, documents: readonly SpecDocument[]): string | undefined {
  return documents.find(({ document }) => new RegExp(`^${document}(:| §|$)`).test(reference))?.document;
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…');
}
