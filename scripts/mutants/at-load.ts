import ts from 'typescript';

/** True if what is at this index of a text is outside of every function: it runs once, while its module is loaded. */
export const runsAtLoad = (text: string, index: number): boolean => {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  let inFunction = false;
  const visit = (node: ts.Node): void => {
    if (index < node.pos || index >= node.end) return;
    if (ts.isFunctionLike(node)) inFunction = true;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return !inFunction;
};
