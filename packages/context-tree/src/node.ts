import type { WideJson } from '@stemma/canonical';
import { missingKind } from '@stemma/suspend';

/** The three regions under the root. */
export type Region = '^sys' | '^seq' | '^ah';

/** The four nodes of every tree that never go: the root and its regions, in document order. */
export type FixedName = 'root' | 'sys' | 'seq' | 'ah';

/**
 * The headers of a node that Stemma knows (context-tree §2), as they lie in rows and in memory. Neither `content` nor
 * `content_*`, `data_*` or unknown attributes: those stay with the event that brought them, see {@link NodeRecord}.
 * An optional header that is absent here is absent in the export too; an explicit null stays null.
 */
export type Headers = {
  readonly id: string;
  readonly nodeType: string;
  readonly offset: number;
  /** As given: N snapshots after the one it is born in; null for ever. What a snapshot shows is computed. */
  readonly ttl: number | null;
  readonly priority: number;
  /** The cycle that introduced the node. */
  readonly cycle: number;
  readonly created_at_ns: bigint;
  readonly creation_index: number;
  readonly role?: string | null;
  readonly kind?: string | null;
  readonly key?: string | null;
  readonly removable?: boolean | null;
  readonly refs?: readonly string[] | null;
  readonly provenance?: WideJson;
};

/** `content` (absent is not the same as null or ""), and every other attribute that is no header, by name. */
export type Payload = { readonly [attribute: string]: WideJson };

/** The event that holds a node's payload: the `index`-th event of frame `seq` of the history. */
export type EventRef = { readonly seq: number; readonly index: number };

/**
 * A place is where turns and blocks lie (snapshots: locations and rows). A `turn` place is the turn that the cycle `cycle`
 * seals, the open head being the place of the open cycle; an import that brings several turns gives them ordinals in
 * canonical order (and its head the place of the cycle after it, ordinal 0). The `sys` place is what is under `^sys`;
 * its number belongs to the rows, which write it anew under a higher one: a tree gives 0 and never looks at it.
 */
export type NodeLocation = SysLocation | TurnLocation;
export type SysLocation = { readonly kind: 'sys'; readonly number: number };
export type TurnLocation = { readonly kind: 'turn'; readonly cycle: number; readonly ordinal: number };

/** A node below a region (a block, a container, never a turn, a region or the root): immutable, replaced when it changes. */
export type NodeRecord = {
  readonly headers: Headers;
  readonly location: NodeLocation;
  /** The container it lies in, or null when it lies directly under the turn, `^ah` or `^sys` of its place. */
  readonly parent: string | null;
  /**
   * The first cycle whose snapshot no longer has it; null: it stays. A node that is held has `ttl` 0 and null here
   * (context-tree §10.11): it is due at every commit.
   */
  readonly expires: number | null;
  /** Where its payload is. */
  readonly payload: EventRef;
};

/** A sealed turn: the node of type `mt` and the place of what it holds. */
export type TurnRecord = {
  readonly headers: Headers;
  readonly location: TurnLocation;
  readonly expires: number | null;
  readonly payload: EventRef;
};

/** Root or region. `payload` null: it has no attributes besides its headers. */
export type FixedRecord = { readonly headers: Headers; readonly payload: EventRef | null };
export type FixedRecords = { readonly [name in FixedName]: FixedRecord };

/**
 * One step of a tree's life: the record before and after, either undefined for "not there". A list of these is what a
 * frame did to a branch: played backwards it undoes the frame, folded it gives the rows, summed up it is a diff.
 * Ageing, sealing (of the blocks) and commits as such change no record.
 */
export type RecordChange =
  | { readonly node: string; readonly before: NodeRecord | undefined; readonly after: NodeRecord | undefined }
  | { readonly turn: string; readonly before: TurnRecord | undefined; readonly after: TurnRecord | undefined }
  | { readonly fixed: FixedName; readonly before: FixedRecord | undefined; readonly after: FixedRecord };

/** Payloads that must be fetched before a pure function can read them. */
export const PAYLOADS = missingKind<EventRef>('payloads', ({ seq, index }) => `${seq}.${index}`);

/** Gives the payload of a node. @throws Missing {@link PAYLOADS} when it must be fetched first */
export type PayloadSource = (ref: EventRef) => Payload;
