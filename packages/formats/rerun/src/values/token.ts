import type { ValueKind } from './bindings.ts';
import type { Mask } from './masks.ts';
import type { WrittenTime } from './times.ts';

/** A value in a text that may differ between two runs. */
export type Token = {
  readonly start: number;
  readonly end: number;
  readonly kind: ValueKind;
  readonly mask: string | null;
  readonly time: WrittenTime | null;
};

/** A mask that finds its values in a text. */
export type MaskMatcher = {
  readonly name: string;
  readonly in: Mask['in'];
  readonly find: (text: string) => readonly Token[];
};
