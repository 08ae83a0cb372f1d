import ts from 'typescript';

/** A text of a file in which rules may be cited, and where it begins. Positions in it are positions in the file. */
export type CitedText = { readonly start: number; readonly text: string };

/** The comments and literals of a TypeScript file; the paragraphs and list items of a Markdown page, code blocks left out. */
export function citedTexts(file: string, source: string): CitedText[] {
  return file.endsWith('.md') ? paragraphs(source) : commentsAndLiterals(file, source);
}

function paragraphs(source: string): CitedText[] {
  const prose = source.replace(/^ *```[^]*?^ *```/gm, blank);
  return [...prose.matchAll(/(?:^|\n)(?=\S| +\S)(?:.|\n(?!\s*\n|\s*[-|] ))+/g)].map(({ 0: text, index }) => ({
    start: index,
    text: text.replace(/\n/g, ' '),
  }));
}

/** Comments are what is left between the tokens when literals, which may look like comments, are blank. */
function commentsAndLiterals(file: string, source: string): CitedText[] {
  const literals: CitedText[] = [];
  let code = source;
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, false);
  const visit = (node: ts.Node): void => {
    if (ts.isLiteralExpression(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node)) {
      const start = node.getStart(tree);
      const text = source.slice(start, node.end);
      literals.push({ start, text });
      code = code.slice(0, start) + blank(text) + code.slice(node.end);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  const comments = code.matchAll(/\/\*[^]*?\*\/|\/\/.*(?:\n\s*\/\/.*)*/g);
  return [
    ...literals,
    ...[...comments].map(({ 0: text, index }) => ({
      start: index,
      text: text.replace(/\n\s*(?:\*(?!\/)|\/\/)?/g, (gap) => ' '.repeat(gap.length)),
    })),
  ];
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
