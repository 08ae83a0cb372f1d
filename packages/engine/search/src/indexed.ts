import type { DocumentKind } from './documents.ts';

/** A document as it is put into the index. */
export type IndexedDocument = {
  readonly history: string;
  readonly branchId: number;
  readonly seq: number;
  /** The event of the frame, and the document of the event. */
  readonly index: number;
  readonly part: number;
  readonly kind: DocumentKind;
  readonly role: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly ids: string;
};

/** A document that the index names; what it says is read from the log. */
export type FoundDocument = Pick<IndexedDocument, 'history' | 'branchId' | 'seq' | 'index' | 'part'>;

export type IndexFilter = {
  readonly history?: string | undefined;
  /** Own frames of branches up to a frame each: the ancestor path of a branch. */
  readonly path?: readonly { readonly branchId: number; readonly limit: number }[] | undefined;
  /** Only these histories. */
  readonly among?: readonly string[] | undefined;
  readonly kind?: DocumentKind | undefined;
  readonly role?: string | undefined;
  /** Milliseconds since 1970, both included. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
};

export type FoundDocuments = {
  readonly documents: readonly FoundDocument[];
  /** All that match, counted up to 20,000. */
  readonly total: number;
  /** More than `total` match. */
  readonly more: boolean;
  /** False: too many match to compare them, or have all of the words; the newest come first. */
  readonly ranked: boolean;
};
