/** What kind of value may differ between two runs of one program. */
export type ValueKind =
  | 'uuid'
  | 'ulid'
  | 'nanoid'
  | 'hex'
  | 'call id'
  | 'time'
  | 'date'
  | 'clock'
  | 'epoch'
  | 'duration'
  | 'size'
  | 'port'
  | 'pid'
  | 'path'
  | 'mask';

/** A recorded value, and the one that stands in its place now. */
export type Binding = {
  readonly kind: ValueKind;
  /** The name of the mask that took it. */
  readonly mask?: string;
  readonly recorded: string;
  readonly now: string;
};

/** A part of a text that a served answer says in another way. */
export type ReplacedPart = { readonly start: number; readonly end: number; readonly now: string };

/** Which values a served answer says instead of the recorded ones. */
export type Replacements = {
  /** True if no answer is changed: it is served as recorded. */
  readonly isEmpty: boolean;
  /** The parts of a text that are replaced, in order. */
  readonly partsOf: (text: string) => readonly ReplacedPart[];
};
