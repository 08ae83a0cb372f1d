import { ContentRef, sha256, sha256Hex } from '@stemma/canonical';
import { openMemoryContents } from '@stemma/contents';
import type { RelayedRecord } from '../src/published/record.ts';
import type { Frame } from '@stemma/events';
import { encodeFrame, openMemoryLog, sealRecord, ZERO_HASH, type Entry, type EventLog } from '@stemma/log';
import { openProjector } from '@stemma/projector';
import { openMemoryRowStore } from '@stemma/row-store';
import { naiveHistory } from '@stemma/test-kit';
import { firstCheckpoint, type CheckpointStore, type RelayCheckpoint } from '../src/checkpoint.ts';
import { openPartitionRelay, type PartitionRelay } from '../src/partition-relay.ts';

/** A history with so many commits, and its frames. */
export const framesOf = (history: string, commits: number, content: unknown = 'x'): Frame[] => {
  const naive = naiveHistory(() => undefined, history);
  naive.run(0, [{ op: 'start', name: null }]);
  for (let i = 0; i < commits; i++)
    naive.run(0, [
      { op: 'insert', parent: '^ah', node: { nodeType: 'cb', offset: 0, content: content as never } },
      { op: 'commit' },
    ]);
  return [...naive.frames];
};

/** The frames and, behind them, one that cannot be true. */
export const withImpossible = (frames: readonly Frame[]): Frame[] => {
  const last = frames.at(-1);
  if (last === undefined) return [];
  const envelope = { ...last.envelope, seq: last.envelope.seq + 1 };
  const events = [{ type: 'NodeExpired', id: 'nobody' }] as const;
  return [...frames, { envelope, body: { ...last.body, command: 'impossible', events } }];
};

/** The records of a history's frames, each naming the hash of the one before, and the contents that they name. */
export const recordsOf = (
  frames: readonly Frame[],
): { readonly entries: readonly Entry[]; readonly contents: readonly Uint8Array[] } => {
  let prev: Uint8Array = ZERO_HASH;
  const contents: Uint8Array[] = [];
  const entries = frames.map(({ envelope, body }) => {
    const encoded = encodeFrame({ ...envelope, prev }, body);
    contents.push(...encoded.contents.map(({ bytes }) => bytes));
    prev = sha256(encoded.bytes);
    return { key: envelope.history, bytes: sealRecord(encoded.bytes) };
  });
  return { entries, contents };
};

export const refOf = (bytes: Uint8Array): ContentRef => new ContentRef(sha256Hex(bytes), bytes.length);

export type Simulation = {
  readonly log: EventLog & { append: EventLog['append'] };
  readonly contents: ReturnType<typeof openMemoryContents>;
  /** What the topic has, in order. */
  readonly topic: readonly RelayedRecord[];
  readonly said: readonly string[];
  /** A relay that starts: with the places that were saved and, if asked for, on an empty disk of rows. */
  readonly start: (options?: { readonly emptyRows?: boolean }) => Promise<PartitionRelay>;
  /** The place that was noted last. */
  readonly saved: () => RelayCheckpoint | undefined;
};

/**
 * A log in memory and a topic; `fault` is asked before each send and each saving of the place, and may throw.
 *
 * @param seenAs what the relay and the test see of the log.
 */
export const openSimulation = async (
  fault: (of: 'send' | 'sent' | 'save') => void = () => undefined,
  seenAs: (log: EventLog) => EventLog = (log) => log,
): Promise<Simulation> => {
  const log = seenAs(await openMemoryLog());
  const contents = openMemoryContents();
  const topic: RelayedRecord[] = [];
  const said: string[] = [];
  let store = openMemoryRowStore();
  let checkpoint: RelayCheckpoint | undefined;
  const checkpoints: CheckpointStore = {
    load: async () => checkpoint,
    save: async (_, next) => {
      fault('save');
      checkpoint = next;
    },
  };
  return {
    log,
    contents,
    topic,
    said,
    saved: () => checkpoint,
    start: async ({ emptyRows = false } = {}) => {
      if (emptyRows) store = openMemoryRowStore();
      const projector = openProjector({ log, contents, store, models: [], group: 'relay' });
      const relaying = {
        log,
        contents,
        projector,
        checkpoints,
        publisher: {
          send: async (records: readonly RelayedRecord[]) => {
            fault('send');
            topic.push(...records);
            fault('sent');
            return new Map([[0, topic.length]]);
          },
        },
        say: (sentence: string) => void said.push(sentence),
        published: () => undefined,
      };
      return openPartitionRelay(
        relaying,
        0,
        checkpoint ?? (await firstCheckpoint(log, 0, { now: false, partitions: 1 })),
      );
    },
  };
};

/** Steps until there is nothing left. */
export const runToEnd = async (partitionRelay: PartitionRelay): Promise<void> => {
  while (await partitionRelay.step());
};

/** `seq.index` of the records of a history, in order; repeats are left out and must be the same to the last byte. */
export const seen = (topic: readonly RelayedRecord[], history: string): readonly string[] => {
  const first = new Map<string, string>();
  for (const { key, value, headers } of topic) {
    if (key !== history) continue;
    const checkpoint = `${headers['seq']}.${headers['index']}`;
    const text = JSON.stringify([value, headers]);
    const before = first.get(checkpoint);
    if (before !== undefined && before !== text)
      throw new Error(`${history} ${checkpoint} came again as another`);
    first.set(checkpoint, text);
  }
  return [...first.keys()];
};

/** What {@link seen} gives when all of the frames arrived. */
export const all = (frames: readonly Frame[]): readonly string[] =>
  frames.flatMap(({ envelope, body }) => body.events.map((_, index) => `${envelope.seq}.${index}`));
