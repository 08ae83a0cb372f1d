import { openRegularFile } from '@stemma/machine';
import { closeSync, unlinkSync, writev, writevSync } from 'node:fs';
import { join } from 'node:path';
import { encodeEntry, type CallBranch, type OpenEntry, type StartedEntry } from './entry.ts';
import { unendedCallFile } from './journal-names.ts';
import type { UnendedHead, UnendedCall, UnendedCalls } from './unended-calls.ts';

/** A disk that takes longer for a write is slow, and is not waited for so long; both in milliseconds. */
const SLOW = 50;
const SLOW_FOR = 10_000;

export type UnendedCallFilesOptions = {
  readonly folder: string;
  /** Bytes that may still be written. */
  readonly room: () => number;
  readonly warn: (sentence: string) => void;
};

/** What the files of one process share. */
type Shared = UnendedCallFilesOptions & {
  bytes: number;
  slowUntil: number;
};

/**
 * A file for each call under way: what its client was given, and how far the call is. A piece is written before it is sent, so that
 * what a client has is in the file, also when this process is killed: the system has the bytes then. Where the disk is slow, it is
 * written behind, as no call waits for a disk. The file goes when the end of the call is noted, which has all of it.
 */
export const unendedCallFiles = (
  options: UnendedCallFilesOptions,
): UnendedCalls & { readonly bytes: () => number } => {
  const shared: Shared = { ...options, bytes: 0, slowUntil: -Infinity };
  return { open: (entry) => new UnendedCallFile(shared, entry), bytes: () => shared.bytes };
};

class UnendedCallFile implements UnendedCall {
  readonly #shared: Shared;
  readonly #path: string;
  #facts: OpenEntry;
  #file: number | undefined;
  #size = 0;
  /** Nothing more is written. */
  #isOver = false;
  #isClosed = false;
  #hasAnswer = false;
  /** What is written behind. */
  #behind: Buffer[] = [];
  #isWriting = false;

  constructor(shared: Shared, { id, method, path }: StartedEntry) {
    this.#shared = shared;
    this.#path = join(shared.folder, unendedCallFile(id));
    const nothing = {
      httpStatus: null,
      contentType: null,
      coding: null,
      retryAfter: null,
      firstByteMs: null,
    };
    this.#facts = { kind: 'open', id, method, path, ...nothing, sentAt: null, durationMs: 0, branch: null };
  }

  given(piece: Uint8Array, head: UnendedHead, durationMs: number): void {
    if (this.#isOver) return;
    if (this.#hasAnswer) {
      this.#write(encodeEntry({ kind: 'piece', durationMs }, [piece]));
      return;
    }
    this.#hasAnswer = true;
    this.#facts = { ...this.#facts, ...head, durationMs };
    this.#write(encodeEntry(this.#facts, [piece]));
  }

  placed(branch: CallBranch): void {
    if (this.#isOver) return;
    this.#facts = { ...this.#facts, branch };
    this.#write(encodeEntry(this.#facts));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isOver = true;
    if (this.#file === undefined) return;
    this.#shared.bytes -= this.#size;
    this.#behind = [];
    try {
      unlinkSync(this.#path);
    } catch (error) {
      this.#shared.warn(`a call that has ended stays noted as one that has not: ${String(error)}`);
    }
    if (!this.#isWriting) this.#closeFile();
  }

  #write(pieces: readonly Buffer[]): void {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    try {
      if (length > this.#shared.room()) throw new Error('there is no room for more that wait');
      this.#size += length;
      this.#shared.bytes += length;
      const began = performance.now();
      if (this.#isWriting || began < this.#shared.slowUntil) {
        this.#behind.push(...pieces);
        this.#writeBehind();
        return;
      }
      this.#file ??= openRegularFile(this.#path, 'new');
      const written = writevSync(this.#file, pieces);
      if (written !== length) throw new Error('not all of it could be written');
      if (performance.now() - began > SLOW) this.#shared.slowUntil = performance.now() + SLOW_FOR;
    } catch (error) {
      this.#stop(error);
    }
  }

  /** Writes what is behind, one write at a time. */
  #writeBehind(): void {
    if (this.#isWriting || this.#behind.length === 0) return;
    const pieces = this.#behind;
    this.#behind = [];
    this.#file ??= openRegularFile(this.#path, 'new');
    this.#isWriting = true;
    writev(this.#file, pieces, (error) => {
      this.#isWriting = false;
      if (error !== null) this.#stop(error);
      if (this.#isClosed) this.#closeFile();
      else if (!this.#isOver) this.#writeBehind();
    });
  }

  /** What was written is what is known; the call goes on. */
  #stop(error: unknown): void {
    this.#isOver = true;
    this.#shared.warn(`what the client of a call is given cannot be noted: ${String(error)}`);
  }

  #closeFile(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) closeSync(file);
  }
}
