import { beganAt, bootId, isAlive } from '@stemma/machine';
import { fstatSync, readFileSync, readSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/*
 * SQLite notices a file whose structure is damaged, but not a word that is another one, or a place that is missing in a list:
 * a search would find less, without a word. So a note beside the file has the checksum of all its bytes. Who writes puts his
 * name there before, and the checksum when he is done. All of this is done under the lock that writers of the file have.
 *
 *   writing 4711 180058 82f63d74-… 917  a process, when it began, the boot of the machine, the file (of a copy it is another)
 *   65536 2774281370                   bytes, CRC-32
 */

/** The checksum of a file, in a note beside it. */
export type FileSum = {
  /** `unknown`: a process that wrote it has ended before it noted what it left, or nobody has noted anything. */
  readonly compare: () => 'as noted' | 'being written' | 'altered' | 'unknown';
  /** Before the file is changed. */
  readonly begin: () => void;
  /** Whether this process has changed it since its last note, and long enough ago that noting costs little in comparison. */
  readonly isDue: (isLast: boolean) => boolean;
  readonly note: () => void;
};

/** Notes take at most one of so many parts of the time. */
const SHARE = 20;

/** @param file the same file, open to be read */
export const openFileSum = (path: string, file: number): FileSum => {
  const noteFile = `${path}.sum`;
  const { ino } = fstatSync(file);
  const own = `writing ${process.pid} ${beganAt(process.pid) ?? '-'} ${bootId()} ${ino}`;
  let changed = false;
  let [took, notedAt] = [0, -Infinity];
  const read = (): string | undefined => {
    try {
      return readFileSync(noteFile, 'utf8');
    } catch {
      return undefined;
    }
  };
  const write = (text: string): void => {
    const fresh = `${noteFile}.${process.pid}`;
    writeFileSync(fresh, text, { mode: 0o600 });
    renameSync(fresh, noteFile);
  };
  return {
    compare: () => {
      const noted = read();
      if (noted === undefined) return 'unknown';
      const writer = /^writing (\d+) (\S+) (\S+) (\d+)$/.exec(noted);
      if (writer === null) return noted === sumOf(file) ? 'as noted' : 'altered';
      const [, pid, began, boot, of] = writer;
      const isItsOwn = boot === bootId() && of === String(ino);
      return isItsOwn && isAlive(Number(pid), began === '-' ? undefined : began)
        ? 'being written'
        : 'unknown';
    },
    begin: () => {
      changed = true;
      // Another one that writes too may have noted what it left.
      if (isSame(path, file) && read()?.startsWith('writing') !== true) write(own);
    },
    isDue: (isLast) => changed && (isLast || performance.now() - notedAt >= took * SHARE),
    note: () => {
      const began = performance.now();
      // A file that somebody has put another in the place of is nobody's any more.
      if (isSame(path, file)) write(sumOf(file));
      changed = false;
      notedAt = performance.now();
      took = notedAt - began;
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
  const piece = Buffer.allocUnsafe(PIECE);
  let [sum, bytes] = [0, 0];
  for (;;) {
    const length = readSync(file, piece, 0, PIECE, bytes);
    if (length === 0) return `${bytes} ${sum}`;
    sum = crc32(piece.subarray(0, length), sum);
    bytes += length;
  }
};
