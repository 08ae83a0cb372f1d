import { fail } from '@stemma/errors';
import { openHome, type Home } from '@stemma/home';
import { basename } from 'node:path';
import type { Imported, ImportedConversation } from '../import-found.ts';
import { isBundle } from './in-bundle.ts';

/** True for a file that is imported as a bundle. */
export const isBundleFile = (file: string): boolean => isBundle(basename(file));

/**
 * Brings the histories of a bundle into a home, with their ids and hashes; without a home it is only checked. All of it is checked first,
 * as `stemma verify FILE` does: records, contents, the hash of each snapshot.
 *
 * @throws E_BUNDLE_NOT_FOUND, E_BUNDLE_DAMAGED, E_VERSION_NEEDED, E_CONFLICT, E_HISTORY_ERASED
 */
export const importBundle = async (
  home: Home | null,
  file: string,
  signal: AbortSignal,
): Promise<Imported> => {
  const { openBundle } = await import('@stemma/operations');
  const bundle = await openBundle(file);
  try {
    const found = await checkedHistories(bundle.directory, file);
    signal.throwIfAborted();
    const added = await home?.operations.addBundle(bundle.directory, signal);
    await home?.catchUp();
    const histories = found.map((each): ImportedConversation => ({
      ...each,
      repeated: added?.histories.find(({ history }) => history === each.history)?.added === 0,
    }));
    const [first] = histories.toSorted(({ history }) => (history === bundle.history ? -1 : 1));
    if (first === undefined) throw fail('E_BUNDLE_DAMAGED', `${file}: it has no history`, { file });
    return {
      ...first,
      ...{ file, format: 'stemma', mapping: 'stemma@1', conversations: histories.length },
      ...(histories.length > 1 && { histories }),
      cycles: histories.reduce((sum, { cycles }) => sum + cycles, 0),
      events: histories.reduce((sum, { events }) => sum + events, 0),
      repeated: histories.every(({ repeated }) => repeated),
      ...{ says: [], read: {}, skipped: {}, unknown: {} },
    };
  } finally {
    bundle.close();
  }
};

/** The histories of an unpacked bundle. @throws E_BUNDLE_DAMAGED unless all of them are as they were recorded */
const checkedHistories = async (
  directory: string,
  file: string,
): Promise<readonly Omit<ImportedConversation, 'repeated'>[]> => {
  const bundled = await openHome({ directory });
  try {
    const { problems } = await bundled.operations.verify({ rows: 'all' });
    // A request may say otherwise than its thread, which is as it was recorded.
    const problem = problems.find(({ kind }) => kind !== 'call');
    if (problem !== undefined) throw fail('E_BUNDLE_DAMAGED', `${file}: ${problem.message}`, { file });
    return (await bundled.read.histories()).map(({ history, name, cycles, events }) => ({
      ...{ history, name, branch: history, branchId: 0, cycles, nodes: 0, events },
    }));
  } finally {
    await bundled.close();
  }
};
