import { fail, reasonOf } from '@stemma/errors';
import { readPrices, type PriceTable } from '@stemma/model-apis';
import { readRegularFile, refuseIrregular } from '@stemma/machine';

/** The price table of a home as its file has it now; null: there is no file. @throws E_INPUT_SHAPE and others, E_IO */
export type Prices = () => Promise<PriceTable | null>;

/** @param isNamed true: somebody named the file, and it must be there */
export const openPrices = (path: string, isNamed: boolean): Prices => {
  let known: { readonly version: string; readonly table: PriceTable } | undefined;
  return async () => {
    const found = readable(path, () => refuseIrregular(path));
    if (found === undefined && !isNamed) return null;
    const version = found && `${found.mtimeMs} ${found.size} ${found.ino}`;
    if (version !== undefined && known?.version === version) return known.table;
    const text = readable(path, () => readRegularFile(path).toString());
    const read = readPrices(text);
    if (!read.ok) throw fail(read.code, `${path}: ${read.reason}`, { path });
    known = { version: version ?? '', table: read.prices };
    return known.table;
  };
};

/** @throws E_IO */
const readable = <T>(path: string, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw fail('E_IO', `the price table ${path} cannot be read: ${reasonOf(error)}`, { path });
  }
};
