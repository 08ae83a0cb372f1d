import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { CallApi, CallFidelity, CallStatus, CallUsage } from '@stemma/events';
import type { Losses } from './losses.ts';

/** A message as the chat API has it. */
export type ExportedMessage = {
  readonly message: WideJsonObject;
  /** Milliseconds since 1970 when it was made; null: nobody says. */
  readonly at: number | null;
};

/** What a head says of a body; null: nothing, or nobody saw it. */
type Head = { readonly contentType: string | null; readonly coding: string | null };

/** An attempt to call a model. */
export type ExportedCall = {
  readonly attemptId: string;
  readonly label: string;
  /** Milliseconds since 1970 when its request went out; null: nobody saw that. */
  readonly sentAt: number | null;
  /** How true its picture is, where a file told of it; null: its recorder was there. */
  readonly fidelity: CallFidelity | null;
  readonly api: CallApi;
  readonly model: string | null;
  readonly parameters: WideJson;
  /** Null: not known. */
  readonly tools: readonly WideJson[] | null;
  /** As the chat API has it; null: none. */
  readonly answer: WideJson | null;
  readonly status: CallStatus;
  readonly finishReason: string | null;
  readonly usage: CallUsage | null;
  readonly cost: { readonly amount: string; readonly currency: string } | null;
  readonly firstByteMs: number | null;
  readonly durationMs: number | null;
  readonly error: { readonly code: string | null; readonly message: string } | null;
  readonly httpStatus: number | null;
  readonly origin: string | null;
  readonly path: string | null;
  readonly requestHead: Head;
  readonly responseHead: Head;
  /** Null: its bytes are not recorded. */
  readonly request: object | null;
  readonly response: object | null;
};

/** What a branch shows at a snapshot, or at its tip (`cycle` is null), and the calls with it. */
export type ExportedStep = {
  readonly cycle: number | null;
  /** Of the snapshot: the branch itself, or one that it began from. */
  readonly branchId: number;
  /** All messages that it shows. */
  readonly messages: readonly ExportedMessage[];
  /** So many of them, at the beginning, are those of the step before. */
  readonly shared: number;
  /** What an imported file said beside its list of messages. */
  readonly beside: WideJsonObject;
  /** Those that count: none that somebody assigned elsewhere. */
  readonly calls: readonly ExportedCall[];
};

export type ExportedBranch = {
  readonly branchId: number;
  /** `main`, or the name that somebody gave it. */
  readonly name: string;
  /** True if what it has of branches before it is its own: none of them is exported beside it. */
  readonly isAlone: boolean;
  readonly steps: () => AsyncIterable<ExportedStep>;
};

/** A history, or one branch of it, as exporters read it: as often as they want, step by step. */
export type ExportSource = {
  readonly history: string;
  readonly name: string;
  /** Of the file that it was imported from, and of the program that wrote it; null: not known. */
  readonly format: string | null;
  readonly version: string | null;
  /** The first one first. */
  readonly branches: readonly ExportedBranch[];
  /** False: no call is recorded, and each answer of the assistant stands for one. */
  readonly hasCalls: boolean;
  /** The bytes of a body; null: they are not kept. */
  readonly body: (attemptId: string, which: 'request' | 'response') => Promise<Uint8Array | null>;
};

/** One file of an export. */
export type ExportedFile = {
  /** Behind the name of the export: `.calls`; empty for the only one. */
  readonly suffix: string;
  /** Pure: the same source gives the same bytes. What the format cannot hold is added to `lost`. */
  readonly write: (source: ExportSource, lost: Losses) => AsyncIterable<string | Uint8Array>;
};

/** A format of another program: one file, and a line in the catalogue. */
export type Exporter = {
  /** The value of `--format`. */
  readonly name: string;
  readonly summary: string;
  /** True if what it writes is text. */
  readonly isText: boolean;
  /** Several go to files only. */
  readonly files: readonly ExportedFile[];
};
