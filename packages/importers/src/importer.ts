import type { WideJson } from '@stemma/canonical';
import type { Step } from '@stemma/history';

/** One JSON value of a file: the whole file, or a line of it. */
export type Unit = {
  /** Names the place in messages: "the file", "line 3". */
  readonly where: string;
  readonly text: string;
  /** What the text says, integers of any size kept exactly; null where the importer reads lines itself. */
  readonly value: WideJson;
  /** The 1-based number of the line, 0 for a document. */
  readonly line: number;
};

/** The first step of a history, once the name and the file's hash are known. */
export type MakeFirstStep = (
  name: string | null,
  source: { readonly format: string; readonly sha256: string },
) => Step;

/**
 * What a mapping gives, in order: for each conversation of the file its commands (the first with its beginning), then
 * its report. The steps of one `steps` become one command, so one frame.
 */
export type ImporterOutput =
  | { readonly kind: 'steps'; readonly firstStep: MakeFirstStep | null; readonly steps: readonly Step[] }
  | { readonly kind: 'report'; readonly report: ImportReport };

/** What was made of a conversation. Keys of the counts are stable; none is zero. */
export type ImportReport = {
  /** The mapping with its version. */
  readonly format: string;
  readonly read: ImportCounts;
  readonly skipped: ImportCounts;
  /** What is kept but means nothing to the mapping. */
  readonly unknown: ImportCounts;
  /** The first 100 sentences about what is odd. */
  readonly warnings: readonly string[];
  /** How many more there were. */
  readonly moreWarnings: number;
};

export type ImportCounts = Readonly<Record<string, number>>;

/** A format: what tells it, and its pure mapping. A new one is a file with this shape and a line in the catalogue. */
export type Importer = {
  /** What `--format` says. */
  readonly name: string;
  /** The name with the version of the mapping: another version is another import. */
  readonly mapping: string;
  readonly summary: string;
  /** Wants every line as it is, blank and broken ones too, and reads `text` itself. */
  readonly readsLines?: boolean;
  /** True if the first value of a file looks like this format. */
  readonly recognises: (first: WideJson) => boolean;
  /**
   * Maps the values of a file. It is run twice, first only to see whether it throws, so it must give the same each
   * time, and everything that can be wrong must be found here.
   *
   * @throws coded errors that name the message or the line.
   */
  readonly read: (units: AsyncIterable<Unit>) => AsyncIterable<ImporterOutput>;
};
