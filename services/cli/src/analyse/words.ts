import type { Context } from '../command.ts';

/** The description of an argument that names a file of vectors. */
export const VECTOR_FILE = 'vectors as .npy, JSON, JSON Lines or CSV, or texts as JSON Lines; - reads stdin';

export const UNIT_OPTION = [
  '--unit',
  'only the direction of each vector: it is divided by its length first',
] as const;

/** Three significant digits. */
export const figure = (value: number): string => String(Number(value.toPrecision(3)));

/** `1 vector`, `2,000 vectors`. */
export const inWords = (count: number, noun: string): string =>
  `${String(count).replace(/\B(?=(\d{3})+$)/g, ',')} ${noun}${count === 1 ? '' : 's'}`;

/** Says who made the vectors, where the file has none. */
export const sayEmbedder = ({ output }: Context, embedder: string | null): void => {
  if (embedder !== null)
    output.say(
      `the texts have no vectors: ${embedder}, the built-in embedder, compares their words, not their meaning`,
    );
};
