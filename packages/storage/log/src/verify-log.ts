import type { ContentRef } from '@stemma/canonical';
import { isStemmaError, type ErrorCode } from '@stemma/errors';
import type { Frame } from '@stemma/events';
import { isDefect } from './body.ts';
import { checkRecords, openRecords, type ForeignRecord } from './check-records.ts';
import { refuseUnread } from './control.ts';
import type { Checkpoint, Damage, HeadState, StaleReason } from './checkpoint.ts';
import type { Opened } from './cursor.ts';
import { controlOf, partitionOf } from './partition-of.ts';
import { defectiveAt, NOTHING_STALE } from './partition-state.ts';
import type { EventLog } from './port.ts';
import { readFrame } from './read-frame.ts';
import { checkpointAtStart } from './read-partition.ts';
import type { AcceptedFrame } from './reading-types.ts';
import { erasureIn, type Erasure } from './sealing.ts';

/** A problem in a log. */
export type LogProblem = {
  readonly partition: number;
  readonly offset: number;
  /** The history that stops at this problem, and its `seq` there; null if unknown. */
  readonly history: string | null;
  readonly seq: number | null;
  /**
   * `unknown`: the record is damaged and may belong to any history, so the partition is closed after it. `foreign`: it is
   * none of this log, and nothing is lost by it.
   */
  readonly kind: 'damaged' | 'unknown' | 'foreign' | 'defective' | 'content';
  readonly code: ErrorCode;
  readonly message: string;
};

export type LogReport = {
  readonly records: number;
  readonly accepted: number;
  readonly stale: Readonly<Record<StaleReason, number>>;
  /** The head of every history. */
  readonly histories: ReadonlyMap<string, HeadState & { readonly partition: number }>;
  readonly problems: readonly LogProblem[];
  /** Histories that cannot be opened here and are not erased: their records are whole, what is in them was not checked. */
  readonly sealed: readonly string[];
};

export type VerifyLogOptions = {
  readonly contents: { get(ref: ContentRef): Promise<Uint8Array> };
  /**
   * Checks a frame's events on the state before it, as readers do. @throws an error for which `isDefect` returns true
   */
  readonly check?: (frame: Frame, hash: Uint8Array) => Promise<void> | void;
  /** Called for a sealed history with what its last frame says, in the clear, of its erasure. */
  readonly erased?: (history: string, erasure: Erasure) => void;
  readonly progress?: (partition: number, offset: number, end: number) => void;
};

/**
 * A report of everything that is wrong in a log. Reads every record, also after damage that closes a partition.
 *
 * @throws E_VERSION_NEEDED if it holds frames that this version cannot read; E_BUSY if it returns nothing before its end.
 */
export const verifyLog = async (log: EventLog, options: VerifyLogOptions): Promise<LogReport> => {
  const histories = new Map<string, HeadState & { partition: number }>();
  const problems: LogProblem[] = [];
  const unopened = new Map<string, 'sealed' | 'erased'>();
  const stale = { ...NOTHING_STALE };
  let records = 0;
  let accepted = 0;
  for (let partition = 0; partition < log.partitions; partition++) {
    const heads = new Map<string, HeadState>();
    let checkpoint: Checkpoint = await checkpointAtStart(log, partition);
    const end = await log.end(partition);
    const after = new Map<string, number>();
    let lostFrom = Infinity;
    while (checkpoint.cursor.offset < end) {
      const read = await log.read(partition, checkpoint.cursor.offset);
      if (read.records.length === 0) await refuseUnread(log, partition, checkpoint.cursor.offset);
      if (read.records.length === 0) break;
      const { opened } = openRecords(read.records);
      // This reader continues after a record that closes the partition to all others.
      const batch = checkRecords(opened, checkpoint, heads, { passesDamage: true });
      for (const [history, head] of batch.heads) heads.set(history, head);
      lostFrom = Math.min(
        lostFrom,
        batch.damage.find((each) => each.affectsWholePartition)?.offset ?? Infinity,
      );
      noteLatest(
        after,
        opened.filter(({ record }) => record.offset >= lostFrom),
      );
      problems.push(...batch.damage.map((damage) => damageProblem(partition, damage)));
      problems.push(...batch.foreign.map((record) => foreignProblem(partition, record, log.partitions)));
      for (const frame of batch.accepted) await verifyFrame(frame, { heads, problems, unopened }, options);
      checkpoint = batch.checkpoint;
      records += opened.length;
      options.progress?.(partition, checkpoint.cursor.offset, end);
    }
    problems.push(...withoutBeginning(partition, problems, after, heads));
    for (const [history, head] of heads) histories.set(history, { ...head, partition });
    accepted += checkpoint.state.accepted;
    for (const reason of REASONS) stale[reason] += checkpoint.state.stale[reason];
  }
  const sealed = [...unopened].filter(([, why]) => why === 'sealed').map(([history]) => history);
  return { records, accepted, stale, histories, problems, sealed };
};

/** The number of the latest whole frame of each history. */
const noteLatest = (latest: Map<string, number>, opened: readonly Opened[]): void => {
  for (const { open } of opened) {
    if (open === undefined) continue;
    const { history, seq } = open.envelope;
    latest.set(history, Math.max(seq, latest.get(history) ?? 0));
  }
};

/** Histories with whole frames that follow nothing, because what they follow may be a record that is damaged and anybody's. */
const withoutBeginning = (
  partition: number,
  problems: readonly LogProblem[],
  latest: ReadonlyMap<string, number>,
  heads: ReadonlyMap<string, HeadState>,
): readonly LogProblem[] => {
  const lost = problems.findLast((each) => each.partition === partition && each.kind === 'unknown');
  if (lost === undefined) return [];
  return [...latest].flatMap(([history, seq]) => {
    const { next, state } = heads.get(history) ?? { next: 0, state: 'open' };
    if (state !== 'open' || seq < next) return [];
    const message = `${history} has no frame ${next}, which may be the damaged record ${partition}@${lost.offset}: what follows it, up to frame ${seq}, is not shown`;
    return [{ ...lost, kind: 'damaged', history, seq: next, message }];
  });
};

const REASONS = Object.keys(NOTHING_STALE) as StaleReason[];

const damageProblem = (
  partition: number,
  { offset, history, seq, affectsWholePartition }: Damage,
): LogProblem => ({
  partition,
  offset,
  history,
  seq,
  kind: affectsWholePartition ? 'unknown' : 'damaged',
  code: 'E_RECORD_DAMAGED',
  message: affectsWholePartition
    ? `the record ${partition}@${offset} is damaged and may be anybody's${history === null ? '' : `; its key says ${history}`}`
    : `the record ${partition}@${offset} is damaged: ${String(history)} stops at ${String(seq)}`,
});

const foreignProblem = (
  partition: number,
  { offset, key }: ForeignRecord,
  partitions: number,
): LogProblem => ({
  partition,
  offset,
  history: null,
  seq: null,
  kind: 'foreign',
  code: 'E_RECORD_FOREIGN',
  message:
    `the record ${partition}@${offset} is none of this log: no frame, under the key ${key} of partition ` +
    `${controlOf(key)?.partition ?? partitionOf(key, partitions)}; no history is affected`,
});

type Found = {
  readonly heads: Map<string, HeadState>;
  readonly problems: LogProblem[];
  /** Histories without a key here: their records and contents are checked, what is in them is not. */
  readonly unopened: Map<string, 'sealed' | 'erased'>;
};

const verifyFrame = async (
  frame: AcceptedFrame,
  { heads, problems, unopened }: Found,
  { contents, check, erased }: VerifyLogOptions,
): Promise<void> => {
  const { history, seq } = frame.envelope;
  const head = heads.get(history);
  if (head?.state === 'defective') return;
  try {
    const read = await readFrame(frame, contents);
    const erasure = unopened.has(history) ? erasureIn(read.body) : undefined;
    if (erasure !== undefined) {
      unopened.set(history, 'erased');
      erased?.(history, erasure);
    }
    if (!frame.control && !unopened.has(history)) await check?.(read, frame.hash);
  } catch (error) {
    if (!isDefect(error) || !isStemmaError(error)) throw error;
    // The record itself is whole, and so may the next ones be.
    if (error.code === 'E_HISTORY_ERASED' || error.code === 'E_HISTORY_SEALED') {
      // Only the log says that a history is erased: a keyring may say so of one that lost its key.
      if (!unopened.has(history)) unopened.set(history, 'sealed');
      return;
    }
    if (head) heads.set(history, defectiveAt(head, seq));
    const content = error.code === 'E_CONTENT_MISSING' || error.code === 'E_CONTENT_DAMAGED';
    const kind = content ? 'content' : 'defective';
    const { partition, offset } = frame;
    problems.push({ partition, offset, history, seq, kind, code: error.code, message: error.message });
  }
};
