import { fail, isStemmaError } from '@stemma/errors';
import { erasableOf } from '@stemma/events';
import type { Command } from '@stemma/history';
import { withoutKey, type Erasure } from '@stemma/log';
import type { Projection } from '@stemma/projector';

/** What the handler does with keys: it makes them before the first frame and destroys them after the last. */
export type HistoryKeys = {
  /** Nothing happens if there is a key. @throws E_HISTORY_ERASED */
  create(history: string, subject: string | null): void;
  seals(history: string): boolean;
  /** What is known of its erasure; undefined if it is not erased. */
  erasureOf(history: string): Error | undefined;
  destroy(history: string, erasure: Erasure): void;
};

const startIn = ({ steps: [first] }: Command) =>
  first?.op === 'start' || first?.op === 'import' ? first : undefined;

/** Of a start that asks to be erasable: about whom. */
const erasableIn = (command: Command) => startIn(command)?.erasable;

/** @throws E_NOT_ERASABLE */
export const refuseErasable = async (command: Command): Promise<void> => {
  if (erasableIn(command) !== undefined || command.steps[0]?.op === 'erase')
    throw fail('E_NOT_ERASABLE', 'nobody keeps keys here');
};

/**
 * Sees to it that a command on an erasable history has its key, and that none is written in the clear. A key is made
 * before the first frame and never taken back: another process may have sealed a frame with it.
 *
 * @throws E_HISTORY_ERASED, E_HISTORY_SEALED, E_HISTORY_EXISTS, E_NOT_ERASABLE
 */
export const openKeyCheck = (keys: HistoryKeys, rows: Projection): ((command: Command) => Promise<void>) => {
  const known = new Map<string, boolean>();
  /** Undefined if the rows have no such history yet. */
  const startedErasable = async (history: string): Promise<boolean | undefined> => {
    const found = known.get(history);
    if (found !== undefined) return found;
    try {
      const events = await rows.payloads.events(history, 0, { once: true });
      const erasable = erasableOf(events) !== undefined;
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(history, erasable);
      return erasable;
    } catch (error) {
      if (isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) return undefined;
      if (isStemmaError(error, 'E_HISTORY_SEALED')) throw error;
      // What else is wrong with it is said by those who decide.
      return undefined;
    }
  };
  return async (command) => {
    const { history } = command;
    const wanted = erasableIn(command);
    const erases = command.steps[0]?.op === 'erase';
    // A history that began without a key never has one, nor is it erased.
    if (known.get(history) === false && wanted === undefined && !erases) return;
    const erased = keys.erasureOf(history);
    if (erased !== undefined) throw erased;
    if (wanted !== undefined && !keys.seals(history)) {
      await rows.catchUp();
      if ((await startedErasable(history)) !== undefined)
        throw fail('E_HISTORY_EXISTS', `the history ${history} already exists`, { history });
      keys.create(history, wanted.subject);
    }
    // It is refused if there is one already, and repeats its frame if that is its own: either way nothing is written.
    if (startIn(command) !== undefined && wanted === undefined) return;
    if (erases) await rows.catchUp();
    const erasable = await startedErasable(history);
    if (erasable === true && !keys.seals(history)) throw withoutKey(history);
    if (erases && erasable !== true)
      throw fail('E_NOT_ERASABLE', `the history ${history} was not started as erasable`, { history });
  };
};

const MAX_KNOWN = 10_000;
