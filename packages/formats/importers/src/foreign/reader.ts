import type { WideJson } from '@stemma/canonical';
import type { Unit } from '../importer.ts';
import type { ForeignItem } from './item.ts';

/** A format that another program writes: one file of this folder, and one line of its catalogue. */
export type ForeignReader = {
  /** The value of `--format`, and of `format` in the report. */
  readonly name: string;
  /** The name with the version of the mapping: another version makes another import. */
  readonly mapping: string;
  readonly summary: string;
  /** The versions that it reads, and where their form is described: for the page of formats. */
  readonly versions: string;
  /**
   * True if the first value of a file (a document, a line, an item of a long list) can only be of this format: by its content,
   * never by a name of a file. Asked of up to 20 lines, until one is recognised.
   */
  readonly recognises: (first: WideJson) => boolean;
  /** True if a list that begins with this item is read item by item. */
  readonly takesItems?: (first: WideJson) => boolean;
  /**
   * Reads the values of a file; a line that is no JSON is a unit with its `fault`. It runs twice and gives the same each time. Memory
   * is bounded by the longest value and by what is still open, never by the size of the file.
   *
   * @throws E_INPUT_SHAPE … with the place where the file is not what it was recognised as: it is refused whole
   */
  readonly read: (
    units: AsyncIterable<Unit>,
    /** `mayGrow`: the file is being written; what may not be whole at its end is left for later. */
    about?: { readonly mayGrow: boolean },
  ) => AsyncIterable<ForeignItem>;
};
