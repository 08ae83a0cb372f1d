import { pack, sha256 } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Frame, HistoryEvent } from '@stemma/events';
import { defined } from '@stemma/values';
import { isDefect } from '../body.ts';
import type { Checkpoint, HeadState } from '../checkpoint.ts';
import { ZERO_HASH } from '../envelope.ts';
import { partitionOf } from '../partition-of.ts';
import { defectiveAt } from '../partition-state.ts';
import type { EventLog } from '../port.ts';
import { readFrame, type ContentSource } from '../read-frame.ts';
import { checkpointAtStart, readPartition } from '../read-partition.ts';
import { sameBytes } from '../record.ts';
import type { ContentSink, Decision, Domain, Intent, Repeated, Session } from '../writer/types.ts';

/**
 * The smallest domain that a log can be tested with: a history is a list of notes. Each note names the frame before it,
 * so that a note decided on another state does not apply.
 */
export type Note = {
  readonly note: string;
  /** The note is refused unless the newest note has this number. */
  readonly expected?: number;
};

/** A command that adds a note, as the writer takes it. */
export const noteIntent = (history: string, id: string, note: string, expected?: number): Intent<Note> => ({
  id,
  history,
  digest: sha256(pack({ history, note })),
  command: { note, ...defined({ expected }) },
});

type History = {
  readonly notes: readonly string[];
  readonly commands: ReadonlyMap<string, { readonly seq: number; readonly digest: Uint8Array }>;
};

const NO_HISTORY: History = { notes: [], commands: new Map() };

const decideNote = (seq: number, note: string): readonly HistoryEvent[] => {
  if (note === 'refused') throw fail('E_COMMAND_INVALID', 'this note is refused');
  return [{ type: 'PositionAnnotated', branchId: 0, seq: Math.max(seq - 1, 0), note }];
};

const applyNote = ({ notes, commands }: History, frame: Frame): History => {
  const { seq, history } = frame.envelope;
  const [last] = frame.body.events.slice(-1);
  if (last?.type !== 'PositionAnnotated' || last.seq !== Math.max(seq - 1, 0) || notes.length !== seq)
    throw fail('E_HISTORY_DEFECTIVE', `the note ${seq} of ${history} does not apply`, { history, seq });
  const remembered = { seq, digest: frame.body.digest };
  return { notes: [...notes, last.note], commands: new Map(commands).set(frame.body.command, remembered) };
};

/** Rows in memory: what a projector of notes keeps. */
export type NoteRows = {
  /** Applies the new frames of every partition. @throws E_CURSOR_LOST, E_VERSION_NEEDED */
  readonly catchUp: (options?: { maxRecords?: number; until?: number }) => Promise<void>;
  readonly notes: (history: string) => readonly string[];
  readonly head: (history: string) => HeadState | undefined;
  readonly checkpoint: (partition: number) => Checkpoint | undefined;
  readonly domain: Domain<Note>;
};

type PartitionRows = { checkpoint: Checkpoint; readonly heads: Map<string, HeadState> };

/** @param contents the source of the frames' contents; none by default. */
export const openNoteRows = (
  log: EventLog,
  contents: ContentSource & ContentSink = NO_CONTENTS,
): NoteRows => {
  const partitions = new Map<number, PartitionRows>();
  const histories = new Map<string, History>();

  const rowsOf = async (partition: number): Promise<PartitionRows> => {
    const rows = partitions.get(partition) ?? {
      checkpoint: await checkpointAtStart(log, partition),
      heads: new Map(),
    };
    partitions.set(partition, rows);
    return rows;
  };
  const catchUpOne = async (
    partition: number,
    { maxRecords, ...options }: { maxRecords?: number; until?: number },
  ): Promise<void> => {
    const rows = await rowsOf(partition);
    const read = {
      checkpoint: rows.checkpoint,
      heads: { load: () => rows.heads },
      maxRecords: () => maxRecords,
      ...options,
    };
    for await (const batch of readPartition(log, read)) {
      for (const [history, head] of batch.heads) rows.heads.set(history, head);
      for (const frame of batch.accepted) if (!frame.control) await fold(rows, frame);
      rows.checkpoint = batch.checkpoint;
    }
  };
  const fold = async (rows: PartitionRows, accepted: Parameters<typeof readFrame>[0]): Promise<void> => {
    const { history, seq } = accepted.envelope;
    const head = rows.heads.get(history);
    // After a defect found in this very batch, nothing is served either.
    if (head?.state === 'defective') return;
    try {
      histories.set(
        history,
        applyNote(histories.get(history) ?? NO_HISTORY, await readFrame(accepted, contents)),
      );
    } catch (error) {
      if (!isDefect(error) || !head) throw error;
      rows.heads.set(history, defectiveAt(head, seq));
    }
  };
  return {
    catchUp: async (options = {}) => {
      for (let partition = 0; partition < log.partitions; partition++) await catchUpOne(partition, options);
    },
    notes: (history) => (histories.get(history) ?? NO_HISTORY).notes,
    head: (history) => partitions.get(partitionOf(history, log.partitions))?.heads.get(history),
    checkpoint: (partition) => partitions.get(partition)?.checkpoint,
    domain: {
      checkpoint: async (partition) => (await rowsOf(partition)).checkpoint,
      heads: async (partition, names) => {
        const { checkpoint, heads } = await rowsOf(partition);
        const known = names.flatMap((name) =>
          heads.has(name) ? [[name, heads.get(name) as HeadState] as const] : [],
        );
        return { asOf: checkpoint.cursor.offset, heads: new Map(known) };
      },
      load: async (history) => {
        const { checkpoint, heads } = await rowsOf(partitionOf(history, log.partitions));
        const head = heads.get(history);
        const known = histories.get(history) ?? NO_HISTORY;
        return { session: noteSession(known, head, checkpoint.cursor.offset), head, known: null };
      },
    },
  };
};

const noteSession = (start: History, head: HeadState | undefined, asOf: number): Session<Note> => {
  const past: { state: History; prev: Uint8Array }[] = [];
  let state = start;
  let prev = head?.prev ?? ZERO_HASH;
  return {
    get next() {
      return state.notes.length;
    },
    get prev() {
      return prev;
    },
    asOf,
    bytes: 1,
    decide: ({ id, digest, command: { note, expected } }): Decision | Repeated => {
      const before = state.commands.get(id);
      if (before !== undefined && !sameBytes(before.digest, digest))
        throw fail('E_COMMAND_REUSED', `the id ${id} belongs to another command`, { command: id });
      if (before !== undefined) return { repeats: before.seq, frame: null };
      const seq = state.notes.length;
      if (expected !== undefined && expected !== seq - 1)
        throw fail('E_CONFLICT', `the newest note is ${seq - 1}, not the expected ${expected}`, {
          seq: seq - 1,
        });
      return { author: { recorder: 'notes' }, at: BigInt(seq), branchId: 0, events: decideNote(seq, note) };
    },
    apply: (frame, hash) => {
      const after = applyNote(state, frame);
      past.push({ state, prev });
      state = after;
      prev = new Uint8Array(hash);
    },
    undo: () => {
      const before = past.pop();
      if (before) ({ state, prev } = before);
    },
  };
};

/** Contents for domains that have none. */
export const NO_CONTENTS: ContentSource & ContentSink = {
  get: async ({ sha256: hash }) => {
    throw fail('E_CONTENT_MISSING', `there is no content ${hash}`, { sha256: hash });
  },
  put: async () => undefined,
};
