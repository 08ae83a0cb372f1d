import type { WideJson } from '@stemma/canonical';
import type { StemmaError } from '@stemma/errors';
import type { Step } from '@stemma/history';

/** One JSON value of a file: the whole file, a line of it, or an item of a long list. */
export type Unit = {
  /** Its place for messages: "the file", "line 3". */
  readonly where: string;
  readonly text: string;
  /** The parsed value, integers of any size kept exactly; null if the importer reads lines itself. */
  readonly value: WideJson;
  /** The 1-based number of the line, 0 for a document. */
  readonly line: number;
  /** True for an item of a list that the importer takes item by item. */
  readonly isItem?: boolean;
  /** Why the line cannot be parsed, if other lines may be good all the same. */
  readonly fault?: StemmaError;
};

/** Makes the first step of a history from its name and the file's hash. */
export type MakeFirstStep = (
  name: string | null,
  source: { readonly format: string; readonly sha256: string },
) => Step;

/**
 * The output of a mapping, in order: for each conversation of the file its commands (the first starts the history),
 * then its report. The steps of one `steps` become one command, so one frame.
 */
export type ImporterOutput =
  | {
      readonly kind: 'steps';
      readonly firstStep: MakeFirstStep | null;
      readonly steps: readonly Step[];
      /** With the first step: what the file calls the conversation; it may be no valid name of a history. */
      readonly title?: string;
      /** How the conversation was read, where it is not the mapping of the importer. */
      readonly mapping?: string;
    }
  | { readonly kind: 'report'; readonly report: ImportReport }
  /** A conversation that cannot be read, instead of its report: its steps before are worth nothing. */
  | { readonly kind: 'refused'; readonly place: string; readonly error: StemmaError };

/** What an import made of a conversation. Keys of the counts are stable; none is zero. */
export type ImportReport = {
  /** The mapping with its version. */
  readonly format: string;
  readonly read: ImportCounts;
  readonly skipped: ImportCounts;
  /** Counts of fields that are kept but that the mapping does not know. */
  readonly unknown: ImportCounts;
  /** The first 100 warnings. */
  readonly warnings: readonly string[];
  /** The number of further warnings. */
  readonly moreWarnings: number;
};

export type ImportCounts = Readonly<Record<string, number>>;

/**
 * A format: how to recognise it, and its pure mapping. A new format is a folder with one of this shape and a line in the
 * catalogue.
 */
export type Importer = {
  /** The value of `--format`. */
  readonly name: string;
  /** The name with the version of the mapping: another version makes another import. */
  readonly mapping: string;
  readonly summary: string;
  /** True if it needs every line unchanged, even blank and broken ones, and parses `text` itself. */
  readonly readsLines?: boolean;
  /** True if the other lines of a file are good where one cannot be parsed. */
  readonly passesFaults?: boolean;
  /** True if the first value of a file looks like this format. */
  readonly recognises: (first: WideJson) => boolean;
  /** True if a list that begins with this item can be read item by item: each is then a unit of its own. */
  readonly takesItems?: (first: WideJson) => boolean;
  /**
   * Maps the values of a file. It runs twice, the first time only to find errors, so it must give the same each time,
   * and must find everything that can be wrong.
   *
   * @throws coded errors that name the message or the line, where no conversation of the file can be read
   */
  readonly read: (units: AsyncIterable<Unit>) => AsyncIterable<ImporterOutput>;
};
