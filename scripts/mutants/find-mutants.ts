import ts from 'typescript';
import { isExcluded, mutationsOf } from './mutations.ts';

/** A single change of a source file that leaves a program that runs. */
export type Mutant = {
  /** The path of the file in the repository. */
  readonly file: string;
  /** What is replaced, as indexes of the text. */
  readonly from: number;
  readonly to: number;
  readonly line: number;
  /** The kind of change: `boundary`, `condition`, `statement` and so on. */
  readonly kind: string;
  readonly original: string;
  /** What stands there instead; of a statement, nothing. */
  readonly replacement: string;
  readonly isStatement: boolean;
};

/** Every mutant of a source text, in the order of the text. */
export const findMutants = (file: string, text: string): readonly Mutant[] => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const found: Mutant[] = [];
  const visit = (node: ts.Node): void => {
    if (isExcluded(node)) return;
    for (const { target = node, kind, replacement, isStatement = false } of mutationsOf(node)) {
      const from = target.getStart(source);
      const { line } = source.getLineAndCharacterOfPosition(from);
      const original = text.slice(from, target.end);
      found.push({ file, from, to: target.end, line: line + 1, kind, original, replacement, isStatement });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.sort((a, b) => a.from - b.from || b.to - a.to);
};
