import { isIrregular, readRegularFile, replaceFileSync } from '@stemma/machine';
import { statSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Rows are not synced: the page cache keeps them when a process dies, but not when the machine does. So a directory
 * holds epochs: numbered folders with one lmdb environment each, and in each a small durable file with the boot in
 * which it was written and whether it was fully synced since. An unclean epoch of another boot may hold anything: the
 * store starts the next one, empty, and the rows are rebuilt from the log.
 */

/** The content of an epoch's file `state`. No file: nothing was ever committed. */
export type EpochState = { readonly boot: string; readonly clean: boolean };

/** How values lie in the file. Since 2 each has a checksum; before that none would fit, and nothing is damaged. */
const LAYOUT = '2';

/**
 * Whether the machine ended before the rows of an epoch were synced, or an earlier version laid them out otherwise. Where something
 * else is in the place of the state, nobody knows.
 */
export const isLost = (folder: string, boot: string): boolean => {
  let state: ReturnType<typeof readEpochState>;
  try {
    state = readEpochState(folder);
  } catch (error) {
    if (isIrregular(error)) return true;
    throw error;
  }
  return state !== null && (state.layout !== LAYOUT || (!state.clean && state.boot !== boot));
};

export const readEpochState = (folder: string): (EpochState & { readonly layout: string }) | null => {
  let text: string;
  try {
    text = readRegularFile(join(folder, 'state')).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const [word, boot, layout] = text.trim().split(' ');
  return { boot: boot ?? '', clean: word === 'clean', layout: layout ?? '1' };
};

/** Durable when it returns: file and folder are synced. */
export const writeEpochState = (folder: string, { boot, clean }: EpochState): void => {
  const text = `${clean ? 'clean' : 'written'} ${boot} ${LAYOUT}\n`;
  replaceFileSync(join(folder, 'state'), text, { synced: true });
};

/**
 * Notes how the file of the rows looks to the system when the last process closes it, and in which boot of the machine that was. A
 * file that looks otherwise when it is opened was copied, restored, or changed by somebody: it is read through before it is mapped.
 */
export const noteClosed = (folder: string, file: string, boot: string): void => {
  try {
    replaceFileSync(join(folder, 'closed'), `${looks(file)} ${boot}`, { synced: false });
  } catch {
    // A full disk: the rows are read through once more at the next start.
  }
};

/**
 * Whether the file of the rows is as {@link noteClosed} found it. After the machine has stopped its looks may be kept and not its
 * pages, unless it was synced: an environment that was opened and never written to is not.
 */
export const isAsClosed = (folder: string, file: string, boot: string): boolean => {
  try {
    const now = looks(file);
    const noted = readRegularFile(join(folder, 'closed')).toString('latin1');
    return (
      noted === `${now} ${boot}` || (noted.startsWith(`${now} `) && readEpochState(folder)?.clean === true)
    );
  } catch {
    return false;
  }
};

/** Nobody can set the time of a file's last change of any kind (`ctime`). */
const looks = (file: string): string => {
  const { ino, size, ctimeNs } = statSync(file, { bigint: true });
  return `${ino} ${size} ${ctimeNs}`;
};
