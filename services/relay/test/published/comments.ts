import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const FOLDER = join(import.meta.dirname, '../../../../packages/domain/events/src');

/** What the source says of an event: what became true, and of some of its fields. */
export type Comments = { readonly about: string; readonly fields: ReadonlyMap<string, string> };

/** The comments of the event catalogue by the event's name. */
export const eventComments = (): ReadonlyMap<string, Comments> => {
  const found = new Map<string, Comments>();
  for (const file of readdirSync(FOLDER)) {
    const text = readFileSync(join(FOLDER, file), 'utf8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    for (const statement of source.statements) {
      if (!ts.isVariableStatement(statement)) continue;
      const [declared] = statement.declarationList.declarations;
      if (declared === undefined) continue;
      const fields = new Map<string, string>();
      const visit = (node: ts.Node): void => {
        if (ts.isPropertyAssignment(node)) fields.set(node.name.getText(), commentOf(node));
        else ts.forEachChild(node, visit);
      };
      visit(statement);
      found.set(declared.name.getText(), { about: commentOf(statement), fields });
    }
  }
  return found;
};

/** References to the rules of the repository are left out: whoever reads the contract does not have them. */
const commentOf = (node: ts.Node): string =>
  ts
    .getJSDocCommentsAndTags(node)
    .map((each) => ts.getTextOfJSDocComment(each.comment) ?? '')
    .join(' ')
    .replace(/\s+/g, ' ')
    .replace(/ ?\((context-tree|record|pool|snapshots|§)[^)]*\)/g, '')
    .trim();
