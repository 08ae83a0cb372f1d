import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

/** What a run writes as it goes, one line each, so that it goes on where it was stopped. */
export type JournalLine =
  | { readonly what: 'baseline'; readonly file: string }
  | {
      readonly what: 'covered';
      readonly file: string;
      readonly mutants: readonly number[];
      readonly broken: readonly string[];
    }
  | { readonly what: 'try'; readonly file: string; readonly mutant: number }
  | { readonly what: 'passed'; readonly file: string; readonly mutant: number }
  | { readonly what: 'unclear'; readonly file: string; readonly mutant: number }
  | { readonly what: 'noticed'; readonly file: string; readonly mutant: number; readonly by: string }
  | { readonly what: 'done'; readonly file: string };

export const readJournal = (path: string): readonly JournalLine[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as JournalLine)
    : [];

export const note = (path: string, line: JournalLine): void => {
  appendFileSync(path, `${JSON.stringify(line)}\n`);
};

export const writeJournal = (path: string, lines: readonly JournalLine[]): void => {
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
};

/** What a journal says so far. */
export type Progress = {
  /** By mutant, the test that noticed it. */
  readonly noticed: ReadonlyMap<number, string>;
  /** Test files that need not be run again. */
  readonly done: ReadonlySet<string>;
  /** Mutants that at least one test runs through. */
  readonly covered: ReadonlySet<number>;
  /** By file, the tests that fail without any mutant. */
  readonly broken: ReadonlyMap<string, ReadonlySet<string>>;
  /** `file mutant`: tried to the end. */
  readonly tried: ReadonlySet<string>;
  /** `file mutant`: a failure that may be another mutant's doing; tried again in a new process. */
  readonly unclear: ReadonlySet<string>;
};

/** A mutant that was being tried when its process ended brought it to an end: it was noticed. */
export const progressOf = (lines: readonly JournalLine[]): Progress => {
  const noticed = new Map<number, string>();
  const [done, tried, unclear] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const covered = new Set<number>();
  const broken = new Map<string, ReadonlySet<string>>();
  lines.forEach((line, i) => {
    if (line.what === 'done') done.add(line.file);
    if (line.what === 'covered') {
      for (const mutant of line.mutants) covered.add(mutant);
      broken.set(line.file, new Set(line.broken));
    }
    if (line.what === 'noticed') noticed.set(line.mutant, line.by);
    if (line.what === 'passed') tried.add(`${line.file} ${line.mutant}`);
    if (line.what === 'unclear') unclear.add(`${line.file} ${line.mutant}`);
    const following = lines[i + 1];
    if (line.what === 'try' && (following === undefined || following.what === 'baseline'))
      noticed.set(line.mutant, `${line.file}: the process ended`);
  });
  return { noticed, done, covered, broken, tried, unclear };
};
