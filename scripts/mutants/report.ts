import { readFileSync } from 'node:fs';
import type { EquivalentMutant } from './equivalent/equivalent-mutant.ts';
import type { JobMutant } from './job.ts';
import type { Progress } from './journal.ts';

export type MutantResult = Pick<JobMutant, 'file' | 'line' | 'kind' | 'original' | 'replacement'> & {
  readonly number: number;
  /** `equivalent`: it changes no behaviour, as listed by hand; `uncovered`: no test passes it. */
  readonly outcome: 'noticed' | 'survived' | 'uncovered' | 'equivalent';
  /** The test that noticed it, or why it is equivalent. */
  readonly by: string | null;
};

export type Result = {
  readonly packages: readonly {
    readonly name: string;
    readonly mutants: number;
    readonly equivalent: number;
    readonly noticed: number;
    /** The noticed in percent of those that change behaviour. */
    readonly share: number;
  }[];
  readonly mutants: readonly MutantResult[];
};

export const resultOf = (
  mutants: readonly JobMutant[],
  { noticed, covered }: Progress,
  equivalent: readonly EquivalentMutant[],
  lineOf: (file: string, line: number) => string = readLine,
): Result => {
  const results = mutants.map((mutant): MutantResult => {
    const { file, line, kind, original, replacement, number, isStatic } = mutant;
    const by = noticed.get(number) ?? null;
    const own = { number, file, line, kind, original, replacement };
    if (by !== null) return { ...own, outcome: 'noticed', by };
    const reason = equivalent.find(
      (each) =>
        each.file === file &&
        each.original === original &&
        each.replacement === replacement &&
        (each.line === undefined || lineOf(file, line).includes(each.line)),
    )?.reason;
    if (reason !== undefined) return { ...own, outcome: 'equivalent', by: reason };
    return { ...own, outcome: isStatic || covered.has(number) ? 'survived' : 'uncovered', by: null };
  });
  const names = [...new Set(results.map(packageOf)), 'all'];
  const packages = names.map((name) => {
    const own = results.filter((each) => name === 'all' || packageOf(each) === name);
    const same = own.filter(({ outcome }) => outcome === 'equivalent').length;
    const seen = own.filter(({ outcome }) => outcome === 'noticed').length;
    const share = Math.round((1000 * seen) / Math.max(1, own.length - same)) / 10;
    return { name, mutants: own.length, equivalent: same, noticed: seen, share };
  });
  return { packages, mutants: results };
};

/** A line of a file, counted from 1. */
const readLine = (file: string, line: number): string =>
  readFileSync(file, 'utf8').split('\n')[line - 1] ?? '';

const packageOf = ({ file }: { readonly file: string }): string => file.split('/')[2] ?? '';

/** The result as a Markdown table and the list of what no test noticed. */
export const reportOf = ({ packages, mutants }: Result): string =>
  [
    '| package | mutants | change nothing | noticed | of those that matter |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...packages.map(
      ({ name, mutants: all, equivalent, noticed, share }) =>
        `| ${name} | ${all} | ${equivalent} | ${noticed} | ${share} % |`,
    ),
    '',
    ...mutants
      .filter(({ outcome }) => outcome === 'survived' || outcome === 'uncovered')
      .map(
        ({ number, file, line, original, replacement, outcome, kind }) =>
          `- ${number} ${file}:${line} ${kind} (${outcome}): \`${short(original)}\` → \`${short(replacement)}\``,
      ),
    '',
  ].join('\n');

const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 100)}…` : line;
};
