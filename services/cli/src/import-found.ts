import type { ImportSummary } from '@stemma/events';
import { sumOfSummaries, WARNINGS, type ImportItem, type ImportReport } from '@stemma/importers';
import { defined } from '@stemma/values';
import type { ImportedCalls } from './import-calls.ts';

/** What an imported conversation came to. */
export type ImportedConversation = {
  readonly history: string;
  readonly name: string | null;
  readonly branch: string;
  readonly branchId: number;
  readonly cycles: number;
  readonly nodes: number;
  readonly events: number;
  /** True if all of it was recorded before. */
  readonly repeated: boolean;
};

/** What a file came to; the counts of a summary are those of imports §1. */
export type Imported = ImportSummary &
  ImportedConversation & {
    readonly file: string;
    readonly format: string;
    /** The mapping with its version. */
    readonly mapping: string;
    /** Of the program that wrote it, or of its format. */
    readonly version?: string;
    readonly title?: string;
    readonly conversations: number;
    /** Each conversation, if there are several; the first one's history is that of the file. */
    readonly histories?: readonly ImportedConversation[];
    /** What a person should know, in sentences. */
    readonly says: readonly string[];
    /** Counts of what was read, skipped, and kept without being understood. */
    readonly read: ImportReport['read'];
    readonly skipped: ImportReport['skipped'];
    readonly unknown: ImportReport['unknown'];
  };

/** What is counted of a conversation while it is recorded. */
export type ImportedCounts = { cycles: number; nodes: number; events: number; repeated: boolean };

/** What is found in a file, conversation by conversation. */
export type FoundInFile = {
  readonly add: (
    item: Extract<ImportItem, { kind: 'report' }>,
    tally: ImportedCounts,
    /** Where it is, if it is a branch of another conversation's history. */
    at?: Pick<ImportedConversation, 'history' | 'branch' | 'branchId'>,
  ) => void;
  /** What stands beside its conversations, and the calls that hold their whole input. */
  readonly addBeside: (
    item: Extract<ImportItem, { kind: 'beside' }>,
    calls: readonly ImportedCalls[],
  ) => void;
  /** Tells a person something of the file. */
  readonly says: (sentence: string) => void;
  /** One entry for the file; undefined: nothing was read. */
  readonly imported: () => Imported | undefined;
};

export const openFound = (file: string): FoundInFile => {
  const conversations: ImportedConversation[] = [];
  const summaries: ImportSummary[] = [];
  const reports: ImportReport[] = [];
  const sentences: string[] = [];
  let about: Pick<Imported, 'format' | 'mapping' | 'version' | 'title'> | undefined;
  return {
    add({ history, name, format, report }, tally, at = { history, branch: history, branchId: 0 }) {
      const { mapping, version, title, summary } = report;
      about = { format, mapping, ...defined({ version, title }), ...about };
      conversations.push({ name, ...at, ...tally });
      summaries.push(summary);
      reports.push(report);
    },
    addBeside({ format, mapping, version, summary }, calls) {
      about = { format, mapping, ...defined({ version }), ...about };
      summaries.push(summary.summary());
      for (const { history, name, summary: counter, repeated } of calls) {
        const counts = counter.summary();
        summaries.push(counts);
        conversations.push({
          ...{ history: history ?? '', name, branch: history ?? '', branchId: 0 },
          ...{ cycles: counts.calls ?? 0, nodes: 0, events: 0, repeated },
        });
      }
    },
    says: (sentence) => void sentences.push(sentence),
    imported() {
      const [first = NOTHING] = conversations;
      if (about === undefined) return undefined;
      const summary = sumOfSummaries(summaries);
      const sum = (of: (each: ImportedConversation) => number): number =>
        conversations.reduce((all, each) => all + of(each), 0);
      return {
        ...first,
        file,
        ...about,
        conversations: conversations.length,
        ...(conversations.length > 1 && { histories: conversations }),
        cycles: sum(({ cycles }) => cycles),
        nodes: sum(({ nodes }) => nodes),
        events: sum(({ events }) => events),
        repeated: conversations.every(({ repeated }) => repeated),
        ...summary,
        says: [
          ...sentences,
          ...reports.flatMap(sentencesOf),
          ...(reports.some(saysItself) ? [] : warningsOf(summary)),
        ],
        read: counted(reports, ({ read }) => read),
        skipped: counted(reports, ({ skipped }) => skipped),
        unknown: counted(reports, ({ unknown }) => unknown),
      };
    },
  };
};

const NOTHING: ImportedConversation = {
  ...{ history: '', name: null, branch: '', branchId: 0 },
  ...{ cycles: 0, nodes: 0, events: 0, repeated: false },
};

const saysItself = ({ warnings }: ImportReport): boolean => warnings.length > 0;

const sentencesOf = ({ warnings, moreWarnings }: ImportReport): readonly string[] => [
  ...warnings,
  ...(moreWarnings > 0 ? [`and ${moreWarnings} more`] : []),
];

const warningsOf = ({ warnings = [] }: ImportSummary): readonly string[] =>
  warnings.map(({ code, count, first }) => {
    const meaning = (WARNINGS as Readonly<Record<string, string>>)[code] ?? code;
    return `${meaning} (${count === 1 ? first : `${count} times; the first: ${first}`})`;
  });

const counted = (
  reports: readonly ImportReport[],
  of: (report: ImportReport) => ImportReport['read'],
): ImportReport['read'] => {
  const sums: Record<string, number> = {};
  for (const report of reports)
    for (const [name, count] of Object.entries(of(report))) sums[name] = (sums[name] ?? 0) + count;
  return sums;
};
