import { beganAt, bootId, isAlive, readRegularFile, replaceFileSync } from '@stemma/machine';
import { fstatSync, readSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/*
 * SQLite notices a file whose structure is damaged, but not a word that is another one, or a place that is missing in a list:
 * a search would find less, without a word. So a note beside the file has the checksum of all its bytes. Who writes puts his
 * name there before, and the checksum when he is done. All of this is done under the lock that writers of the file have.
 *
 *   writing 4711 180058 82f63d74-… 917  a process, when it began, the boot of the machine, the file (of a copy it is another)
 *   65536 2774281370 917 1764115200…   bytes, CRC-32, the file, when it last changed (nanoseconds, of the file system)
 *
 * Reading all bytes takes as long as the file weighs. So a large file that has not changed since it was noted, as its file system
 * says, and was noted less than a day ago, is opened without: all of it is read after the first answer, a piece at a time, and
 * before the first change, so that no checksum is noted of what nobody compared.
 */

/** The checksum of a file, in a note beside it. */
export type FileSum = {
  /** `unknown`: a process that wrote it has ended before it noted what it left, or nobody has noted anything. */
  readonly compare: () => FileState;
  /** Reads all of the file if this process has not yet, a piece at a time while nothing else is to be done. */
  readonly compareLater: (altered: () => void) => void;
  /** Ends {@link compareLater}. */
  readonly stop: () => void;
  /** Before the file is changed. False if it is not as it was noted: it must not be. */
  readonly begin: () => boolean;
  /** Whether this process has changed it since its last note, and long enough ago that noting costs little in comparison. */
  readonly isDue: (isLast: boolean) => boolean;
  readonly note: () => void;
};

export type FileState = 'as noted' | 'being written' | 'altered' | 'unknown';

/** A file of so many bytes is always read: that takes a few hundredths of a second. */
const READ_AT_ONCE = 64 * 1024 * 1024;
/** Milliseconds for which the note of a larger file is trusted without reading it. */
const TRUSTED = 24 * 3_600_000;
/** Notes take at most one of so many parts of the time. */
const SHARE = 20;

/** What a process knows of a file and its note. */
type SumState = {
  /** This process has changed it since its last note. */
  changed: boolean;
  /** This process has read all bytes, or they are its own. */
  known: boolean;
  later: NodeJS.Immediate | undefined;
  /** Milliseconds that the last note took, and when it was noted. */
  took: number;
  notedAt: number;
};

/** @param file the same file, open to be read. @param readAtOnce a file of so many bytes is always read */
export const openFileSum = (path: string, file: number, readAtOnce = READ_AT_ONCE): FileSum => {
  const noteFile = `${path}.sum`;
  const { ino } = fstatSync(file);
  const own = `writing ${process.pid} ${beganAt(process.pid) ?? '-'} ${bootId()} ${ino}`;
  const state: SumState = {
    changed: false,
    known: false,
    later: undefined,
    took: 0,
    notedAt: -Infinity,
  };
  const read = (): string | undefined => {
    try {
      return readRegularFile(noteFile).toString();
    } catch {
      return undefined;
    }
  };
  const write = (text: string): void => replaceFileSync(noteFile, text, { synced: false });
  /** Which file it is, and when it last changed: nobody but the file system sets this time. */
  const stamp = (): string => {
    const stat = fstatSync(file, { bigint: true });
    return `${stat.ino} ${stat.ctimeNs}`;
  };
  const isFresh = (): boolean => {
    const noted = statSync(noteFile, { throwIfNoEntry: false });
    return noted !== undefined && Math.abs(Date.now() - noted.mtimeMs) < TRUSTED;
  };
  const note = (sum: string): void => {
    write(`${sum} ${stamp()}`);
    state.known = true;
  };
  const compare = (trusting: boolean): FileState => {
    const noted = read();
    if (noted === undefined) return 'unknown';
    const writer = /^writing (\d+) (\S+) (\S+) (\d+)$/.exec(noted);
    if (writer !== null) {
      const [, pid, began, boot, of] = writer;
      const isItsOwn = boot === bootId() && of === String(ino);
      return isItsOwn && isAlive(Number(pid), began === '-' ? undefined : began)
        ? 'being written'
        : 'unknown';
    }
    const [bytes = '', crc = '', ...stamped] = noted.split(' ');
    const { size } = fstatSync(file);
    const isTrusted = trusting && size > readAtOnce && stamped.join(' ') === stamp() && isFresh();
    if (isTrusted && bytes === String(size)) return 'as noted';
    const sum = sumOf(file);
    if (sum !== `${bytes} ${crc}`) return 'altered';
    state.known = true;
    try {
      note(sum);
    } catch {
      // A full disk, which is no reason not to read: the next one reads all bytes, too.
    }
    return 'as noted';
  };
  return {
    compare: () => compare(true),
    compareLater: (altered) => {
      if (state.known || state.later !== undefined) return;
      const [noted, stamped, sum] = [read(), stamp(), summing(file)];
      if (noted?.endsWith(` ${stamped}`) !== true) return;
      const step = (): void => {
        const whole = sum.next();
        if (!whole) state.later = setImmediate(step).unref();
        else if (state.known || read() !== noted || stamp() !== stamped) state.later = undefined;
        else if (noted === `${whole} ${stamped}`) state.known = true;
        else altered();
      };
      state.later = setImmediate(step).unref();
    },
    stop: () => clearImmediate(state.later),
    begin: () => {
      if (!state.known && compare(false) === 'altered') return false;
      [state.changed, state.known] = [true, true];
      // Another one that writes too may have noted what it left.
      if (isSame(path, file) && read()?.startsWith('writing') !== true) write(own);
      return true;
    },
    isDue: (isLast) => state.changed && (isLast || performance.now() - state.notedAt >= state.took * SHARE),
    note: () => {
      const began = performance.now();
      // A file that somebody has put another in the place of is nobody's any more.
      if (isSame(path, file)) note(sumOf(file));
      state.changed = false;
      state.notedAt = performance.now();
      state.took = state.notedAt - began;
    },
  };
};

const isSame = (path: string, file: number): boolean => {
  const now = statSync(path, { throwIfNoEntry: false });
  const opened = fstatSync(file);
  return now !== undefined && now.ino === opened.ino && now.dev === opened.dev;
};

const PIECE = 1024 * 1024;

const sumOf = (file: number): string => {
  const sum = summing(file);
  for (;;) {
    const whole = sum.next();
    if (whole) return whole;
  }
};

/** Reads a file a piece at a time; the last one gives its length and checksum. */
const summing = (file: number): { readonly next: () => string | undefined } => {
  const piece = Buffer.allocUnsafe(PIECE);
  let [sum, bytes] = [0, 0];
  return {
    next: () => {
      const length = readSync(file, piece, 0, PIECE, bytes);
      if (length === 0) return `${bytes} ${sum}`;
      sum = crc32(piece.subarray(0, length), sum);
      bytes += length;
      return undefined;
    },
  };
};
