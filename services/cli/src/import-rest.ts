import { isStemmaError } from '@stemma/errors';
import type { Home } from '@stemma/home';

const MIB = 1024 * 1024;

/**
 * After so many commands, or bytes of the file, the rows catch up: what they lack is held in memory, and of one history a writer refuses to
 * hold more than 10,000 frames.
 */
const MOST_BEHIND = { commands: 500, bytes: 8 * MIB };

/**
 * While the process takes more than so many bytes, its home is closed and opened again when it has caught up so many times, if a history has
 * ended since. Histories that are imported stay in its caches though they are not asked for again, and every page of the rows that was touched
 * counts as memory of the process. One that goes on would only be read again, and the longer it is, the more of it.
 */
const REOPEN = { bytes: 250 * MIB, times: 2 };

/** What an import does now and then, in all its files together, while no command is under way. */
export type ImportRest = {
  /** Counts a command, and the bytes of the file that were read since the one before; true if it is time. */
  readonly isDue: (bytes: number) => boolean;
  /** Says that all of a history is recorded. */
  readonly historyEnded: () => void;
  /** Gives the home to go on with. */
  readonly take: (home: Home | null) => Promise<Home | null>;
};

/**
 * @param reopen closes the home and opens it again
 * @param memory bytes that the process takes
 */
export const openImportRest = (
  reopen?: () => Promise<Home>,
  memory: () => number = () => process.memoryUsage.rss(),
): ImportRest => {
  const behind = { commands: 0, bytes: 0 };
  let times = 0;
  let hasEnded = false;
  return {
    isDue: (bytes) => {
      behind.commands += 1;
      behind.bytes += bytes;
      return behind.commands >= MOST_BEHIND.commands || behind.bytes >= MOST_BEHIND.bytes;
    },
    historyEnded() {
      hasEnded = true;
    },
    async take(home) {
      behind.commands = behind.bytes = 0;
      times += 1;
      await catchUp(home);
      if (home === null || reopen === undefined) return home;
      if (times < REOPEN.times || !hasEnded || memory() < REOPEN.bytes) return home;
      times = 0;
      hasEnded = false;
      return reopen();
    },
  };
};

/** Rows that others make may take longer: whoever needs them is told. */
const catchUp = async (home: Home | null): Promise<void> => {
  try {
    await home?.catchUp();
  } catch (error) {
    if (!isStemmaError(error, 'E_ROWS_BEHIND')) throw error;
  }
};
