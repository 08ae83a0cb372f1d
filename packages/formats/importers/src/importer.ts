import type { WideJson } from '@stemma/canonical';
import type { StemmaError } from '@stemma/errors';
import type { Step } from '@stemma/history';
import type { ForeignConversation, ForeignExchange, ForeignSubAgent } from './foreign/item.ts';
import type { ImportCounts } from './counts.ts';
import type { SummaryCounter } from './summary.ts';
import type { ImportSummary } from '@stemma/events';

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
 * then its report. The steps of one `steps` become one command, so one frame. Conversations may be mixed if each output says of
 * which it is; by default an output is of the conversation that no report has ended.
 */
export type ImporterOutput =
  | {
      readonly kind: 'steps';
      /** Its number; any, but always the same for one conversation. */
      readonly conversation?: number;
      readonly firstStep: MakeFirstStep | null;
      readonly steps: readonly Step[];
      /** The branch that they change, by the number of the frame that began it; by default 0, the first. */
      readonly branch?: number;
      /** With the first step: what the file calls the conversation; it may be no valid name of a history. */
      readonly title?: string;
      /** With the first step: its id in the file, which stays when the file grows. */
      readonly key?: string;
      /** How the conversation was read, where it is not the mapping of the importer. */
      readonly mapping?: string;
      /** True if they finish the call that was started last: of a file that grew, it may be finished already. */
      readonly finishes?: boolean;
    }
  | { readonly kind: 'report'; readonly conversation?: number; readonly report: ImportReport }
  /** A call that holds its whole input: the recorder finds where it belongs. */
  | {
      readonly kind: 'exchange';
      readonly exchange: ForeignExchange;
      /** Calls of different runs are of different conversations; null: of the file. */
      readonly run: string | null;
    }
  /** At the end: what the file holds beside its conversations. Such calls are counted there by whoever records them. */
  | { readonly kind: 'beside'; readonly version: string | undefined; readonly summary: SummaryCounter }
  /** A conversation that cannot be read, instead of its report: its steps before are worth nothing. */
  | { readonly kind: 'refused'; readonly place: string; readonly error: StemmaError };

/** Which conversations of a program led to which, by their keys. */
export type ConversationLinks = {
  readonly key: string;
  /** The one that led to it. */
  readonly parent?: ForeignConversation['parent'];
  /** Hashes of what users say before its first call, if it has a parent ({@link hashOfTold}). */
  readonly told: readonly string[];
  /** What its own tool calls started. */
  readonly started: readonly Pick<ForeignSubAgent, 'key' | 'toolCall'>[];
};

/** What an import made of a conversation. Keys of the counts are stable; none is zero. */
export type ImportReport = {
  /** The mapping with its version. */
  readonly mapping: string;
  /** Of the program that wrote the file, or of its format: what the file says. */
  readonly version?: string;
  readonly title?: string;
  /** Of a conversation with a key: how it and others led to each other. */
  readonly links?: ConversationLinks;
  /** What is counted by the rules of imports §1. */
  readonly summary: ImportSummary;
  readonly read: ImportCounts;
  readonly skipped: ImportCounts;
  /** Counts of fields that are kept but that the mapping does not know. */
  readonly unknown: ImportCounts;
  /** The first 100 warnings of mappings that say them in sentences. */
  readonly warnings: readonly string[];
  /** The number of further warnings. */
  readonly moreWarnings: number;
};

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
  /**
   * True if a file that grew gives the same outputs and some more: a conversation is then known by its key, and not by the bytes of
   * its file, and goes on where its history ends.
   */
  readonly grows?: boolean;
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
  readonly read: (
    units: AsyncIterable<Unit>,
    about?: { readonly mayGrow: boolean },
  ) => AsyncIterable<ImporterOutput>;
};
