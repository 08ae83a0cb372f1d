import type { WideJson } from '@stemma/canonical';
import { missingKind } from '@stemma/suspend';

/** The three regions under the root. */
export type Region = '^sys' | '^seq' | '^ah';

/** The four nodes that every tree always has: the root and its regions, in document order. */
export type FixedName = 'root' | 'sys' | 'seq' | 'ah';

/**
 * The headers of a node that Stemma knows (context-tree §2), as rows and memory hold them. `content`, `content_*`,
 * `data_*` and unknown attributes stay in the event that recorded them, see {@link NodeRecord}. An optional header that
 * is absent here is absent in the export too; an explicit null stays null.
 */
export type Headers = {
  readonly id: string;
  readonly nodeType: string;
  readonly offset: number;
  /** As given: N snapshots after the one it enters in; null: no limit. What a snapshot shows is computed. */
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

/** `content` (absent differs from null and ""), and every other attribute that is not a header, by name. */
export type Payload = { readonly [attribute: string]: WideJson };

/** The event that holds a node's payload: the `index`-th event of frame `seq` of the history. */
export type EventRef = { readonly seq: number; readonly index: number };

/**
 * The location of turns and blocks (snapshots: locations and rows). A `turn` location is the turn that cycle `cycle`
 * seals; the open head is the location of the open cycle. An import with several turns gives them ordinals in canonical
 * order, and its head the location of the next cycle, ordinal 0. The `sys` location is all of `^sys`; its number
 * belongs to the rows, which rewrite it under a higher one: a tree writes 0 and ignores it.
 */
export type NodeLocation = SysLocation | TurnLocation;
export type SysLocation = { readonly kind: 'sys'; readonly number: number };
export type TurnLocation = { readonly kind: 'turn'; readonly cycle: number; readonly ordinal: number };

/**
 * A node below a region (a block or a container, never a turn, a region or the root). Immutable: a change makes a new
 * record.
 */
export type NodeRecord = {
  readonly headers: Headers;
  readonly location: NodeLocation;
  /** The container that holds it, or null directly under the turn, `^ah` or `^sys` of its location. */
  readonly parent: string | null;
  /**
   * The first cycle whose snapshot no longer has it; null: it stays. A held node has `ttl` 0 and null here
   * (context-tree §10.11): it is due at every commit.
   */
  readonly expires: number | null;
  /** The event with its payload. */
  readonly payload: EventRef;
};

/** A sealed turn: the node of type `mt`, and the location of its descendants. */
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
 * One change of a tree: the record before and after, undefined if absent. A list of changes is what a frame did to a
 * branch: inverted in reverse order it undoes the frame, folded it gives the rows, summed it gives a diff. Ageing,
 * sealing (of blocks) and commits as such change no record.
 */
export type RecordChange =
  | { readonly node: string; readonly before: NodeRecord | undefined; readonly after: NodeRecord | undefined }
  | { readonly turn: string; readonly before: TurnRecord | undefined; readonly after: TurnRecord | undefined }
  | { readonly fixed: FixedName; readonly before: FixedRecord | undefined; readonly after: FixedRecord };

/** Payloads that must be fetched before a pure function can read them. */
export const PAYLOADS = missingKind<EventRef>('payloads', ({ seq, index }) => `${seq}.${index}`);

/** Returns the payload of a node. @throws Missing {@link PAYLOADS} when it must be fetched first */
export type PayloadSource = (ref: EventRef) => Payload;
