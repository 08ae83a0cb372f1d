import { sha256Hex } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { readFileSync, writeFileSync } from 'node:fs';

/** So many characters of an answer are shown; of the others there is a hash. */
const SHOWN = 100;

const plain = (_: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)];
  return value === undefined ? 'undefined' : value;
};

/** Questions with their answers, a line each; a refusal by its code. */
export type AnswerLines = {
  readonly lines: readonly string[];
  readonly ask: (question: string, answer: () => unknown) => Promise<void>;
};

export const openAnswerLines = (): AnswerLines => {
  const lines: string[] = [];
  const say = (question: string, answer: string): void => {
    const shown =
      answer.length <= SHOWN ? answer : `${answer.slice(0, SHOWN)}… ${sha256Hex(answer).slice(0, 16)}`;
    lines.push(`${question}: ${shown}`);
  };
  return {
    lines,
    ask: async (question, answer) => {
      try {
        say(question, JSON.stringify(await answer(), plain));
      } catch (error) {
        if (!isStemmaError(error)) throw error;
        say(question, error.code);
      }
    },
  };
};

/**
 * The lines that are kept in a file. Rewritten only on request:
 * `STEMMA_GOLDEN=write pnpm vitest run packages/engine/queries/test`.
 */
export const goldenLines = (name: string, lines: readonly string[]): readonly string[] => {
  const file = new URL(`../golden/${name}.txt`, import.meta.url);
  if (process.env['STEMMA_GOLDEN'] === 'write') writeFileSync(file, `${lines.join('\n')}\n`);
  return readFileSync(file, 'utf8').trimEnd().split('\n');
};
