import { z } from 'zod';
import { CallAddress } from './call-started.ts';
import { count, payloadValue } from './node-shape.ts';

/** Why a change is put down to a tool call: its arguments name the file, no other could have made it, or it is put down to none. */
export const EFFECT_REASONS = ['argument', 'only', 'none'] as const;
export type EffectReason = (typeof EFFECT_REASONS)[number];

/** What a change is put down to, which is a guess. */
export const EffectCause = z.strictObject({
  why: z.enum(EFFECT_REASONS),
  /** The call whose answer has the tool call. */
  call: CallAddress.nullable(),
  toolCall: z.string().nullable(),
  tool: z.string().nullable(),
  /** How many tool calls could have made it: of `argument` those that name the file. */
  of: count,
});
export type EffectCause = z.infer<typeof EffectCause>;

/** Modes of files as git has them: a file, one that can be run, a symbolic link. */
const FILE_MODES = ['100644', '100755', '120000'] as const;

/** A file as it was found. A link's bytes are the path that it leads to. */
export const RecordedFileState = z.strictObject({
  /** Of its bytes, in hexadecimal; null: nobody read them, as they are too many, or nobody could. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  size: count,
  mode: z.enum(FILE_MODES),
});
export type RecordedFileState = z.infer<typeof RecordedFileState>;

/** Of files that nobody read, equal sizes say that they are the same. */
export const isSameFile = (a: RecordedFileState, b: RecordedFileState): boolean =>
  a.sha256 === b.sha256 && a.size === b.size && a.mode === b.mode;

/**
 * Whether the bytes of a file are kept: `large` as they are too many, `full` as others had taken the room, `binary` as nobody could
 * surely take secrets out of them, `secret` as there are some in it, `unread` as nobody could read it.
 */
export const FILE_CONTENTS = ['kept', 'large', 'full', 'binary', 'secret', 'unread'] as const;
export type FileContents = (typeof FILE_CONTENTS)[number];

/** A file that was there at the start, or changed since. */
export const FileChange = z.strictObject({
  /** From the root of the workspace, with `/`. */
  path: z.string().min(1),
  change: z.enum(['present', 'added', 'changed', 'removed']),
  /** Null: it was not there before, or not after. */
  before: RecordedFileState.nullable(),
  after: RecordedFileState.nullable(),
  /** Of the bytes after; null: there are none. */
  contents: z.enum(FILE_CONTENTS).nullable(),
  /** Null for what was there at the start. */
  cause: EffectCause.nullable(),
});
export type FileChange = z.infer<typeof FileChange>;

/** A part of what a snapshot of a workspace shows: of the first, number 0, all files; of later ones those that changed. */
const FileEffect = z.strictObject({
  what: z.literal('file'),
  snapshot: count,
  /** From 0. */
  part: count,
  parts: count,
  /** When the snapshot before began, in milliseconds since 1970; null: there is none. */
  since: count.nullable(),
  /** The newest call that had begun then, and the one by whose answer this snapshot had been taken; null: none. */
  from: CallAddress.nullable(),
  until: CallAddress.nullable(),
  /** The root of the workspace. */
  directory: z.string(),
  files: z.array(FileChange),
  /** Folders with repositories of their own, which are not followed. */
  repositories: z.array(z.string()),
  /** How many files there are that nobody looked at, as they are too many. */
  left: count,
});

/**
 * A program that was run had an effect: files of its workspace changed. The payload holds `data_contents`, the bytes that are kept: a
 * list of `[number in files, encoding, text]`, whose encoding is `text` or `base64`.
 */
export const EffectRecorded = z.strictObject({
  type: z.literal('EffectRecorded'),
  run: z.string().min(1),
  /** Milliseconds since 1970, by the recorder's clock. */
  startedAt: count,
  endedAt: count,
  effect: FileEffect,
  payload: z.record(z.string(), payloadValue),
});
