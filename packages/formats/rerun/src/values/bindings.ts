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

/** Values of now by the recorded ones, which a served answer says instead of these. */
export type Replacements = {
  readonly isEmpty: boolean;
  /** A text with every whole value replaced; the same text if it holds none. */
  readonly inText: (text: string) => string;
};
