import type { AnswerOf, Endpoints } from '@stemma/api';
import { objectOf, parseWideJson, textOf } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { LRUCache } from 'lru-cache';
import { readCheckpointName, type CheckpointKey } from './names.ts';
import type { StoredWrite } from './pending-writes.ts';

/** Where a checkpoint is. */
export type CheckpointEntry = CheckpointKey & {
  readonly name: string;
  /** How often it was put: the last one counts. */
  readonly times: number;
  readonly branchId: number;
  readonly seq: number;
};

/** What is known of the history of a thread, up to a number of frames. */
export type ThreadIndex = {
  readonly history: string;
  readonly thread: string;
  frames: number;
  /** The branch of pending writes. */
  readonly writes: string;
  /** By branch id: its namespace, its name in addresses and its newest frame. */
  readonly branches: Map<number, { readonly namespace: string | null; readonly branch: string; tip: number }>;
  /** By {@link keyOf}. */
  readonly checkpoints: Map<string, CheckpointEntry>;
  /** What tasks wrote, by the name of the checkpoint: of as many as were used last. */
  readonly written: LRUCache<string, Map<string, StoredWrite>>;
  readonly isDeleted: boolean;
  /** The number of the next message. */
  ordinal: number;
};

const MOST_WRITTEN = 1_000;

export const keyOf = ({ namespace, id }: CheckpointKey): string => `${namespace}\n${id}`;

/** The branch that holds what tasks wrote. */
export const WRITES = 'pending-writes';
/** The name of the position at which a thread was deleted. */
export const DELETED = 'langgraph.deleted';
/** The name of the position at which a thread that was copied is whole: before that it is no thread. */
const COPIED = 'langgraph.copied';

/** What the description of a branch says. */
export type BranchNote = {
  readonly thread_id?: string;
  readonly checkpoint_ns?: string;
  readonly copy?: boolean;
};
export const branchNote = (note: BranchNote): string => JSON.stringify(note);

const noteIn = (description: string): BranchNote => {
  try {
    const fields = objectOf(parseWideJson(description, 'the description'));
    const [thread, namespace] = [textOf(fields['thread_id']), textOf(fields['checkpoint_ns'])];
    return {
      ...(thread !== undefined && { thread_id: thread }),
      ...(namespace !== undefined && { checkpoint_ns: namespace }),
      copy: fields['copy'] === true,
    };
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return {};
  }
};

/** The index of a history; null: it is no thread of LangGraph. */
export const readIndex = ({ history, branches }: AnswerOf<Endpoints['branches']>): ThreadIndex | null => {
  const writes = branches.find(({ name }) => name === WRITES);
  const { thread_id: thread, copy } = noteIn(writes?.description ?? '{}');
  const isSaved = (name: string): boolean =>
    branches.some(({ saved }) => saved.some((position) => position.name === name));
  if (writes === undefined || thread === undefined) return null;
  const index: ThreadIndex = {
    ...{ history, thread, writes: writes.branch },
    frames: branches.reduce((sum, { frames }) => sum + frames, 0),
    branches: new Map(),
    checkpoints: new Map(),
    written: new LRUCache({ max: MOST_WRITTEN }),
    isDeleted: isSaved(DELETED) || (copy === true && !isSaved(COPIED)),
    ordinal: 0,
  };
  for (const { branchId, branch, seq, saved, description } of branches) {
    if (branchId === writes.branchId) continue;
    const namespace = branchId === 0 ? '' : (noteIn(description).checkpoint_ns ?? null);
    index.branches.set(branchId, { namespace, branch, tip: seq });
    for (const position of saved) {
      const read = namespace === null ? null : readCheckpointName(position.name, namespace);
      if (namespace === null || read === null) continue;
      addEntry(index, { ...read, namespace, name: position.name, branchId, seq: position.seq });
    }
  }
  return index;
};

/** Of a checkpoint that was put more than once, the last one counts. */
export const addEntry = ({ checkpoints }: ThreadIndex, entry: CheckpointEntry): void => {
  const key = keyOf(entry);
  const known = checkpoints.get(key);
  if (known === undefined || known.times < entry.times) checkpoints.set(key, entry);
};
