import { ContentRef } from '@stemma/canonical';
import { toWireError } from '@stemma/errors';
import { openRecord, type ContentSource, type EventLog, type LogRecord } from '@stemma/log';
import type { Progress } from '@stemma/projector';
import type { Committed } from '../workers/run-in-workers.ts';
import type { DescribedHistory, ThreadAnswer, ThreadQuestion } from './messages.ts';
import type { SealedParts } from './sealed-parts.ts';
import { sentRecords } from './sent-log.ts';

/** What a thread that folds runs has others read and do. */
export type RunThreadSources = {
  readonly log: EventLog;
  readonly contents: ContentSource;
  /** Told of each commit of a short run. */
  readonly committed?: (progress: Progress) => void;
  /** Where the thread folds long runs. */
  readonly long?: LongRunSources;
};

export type LongRunSources = {
  /** What the thread must know of a history, if anything. */
  readonly describe: (history: string) => DescribedHistory | undefined;
  readonly sealed: SealedParts;
  /** Called after each commit: true stops the run there. What it throws ends it. */
  readonly committed: (commit: Committed) => Promise<boolean>;
};

/** Does what a thread asks for. @throws nothing: an error is an answer */
export const answerThread = async (
  question: ThreadQuestion,
  { log, contents, long }: RunThreadSources,
): Promise<ThreadAnswer> => {
  try {
    switch (question.kind) {
      case 'content': {
        const bytes = await contents.get(new ContentRef(question.sha256, question.size));
        return { kind: 'content', bytes };
      }
      case 'bounds': {
        const { partition } = question;
        return { kind: 'bounds', start: await log.start(partition), end: await log.end(partition) };
      }
      case 'records': {
        const { partition, from, maxBytes } = question;
        const epoch = log.epoch?.(partition) ?? 0;
        const batch = await log.read(partition, from, maxBytes === undefined ? {} : { maxBytes });
        const described = long === undefined ? [] : describedIn(batch.records, long);
        return { kind: 'records', records: sentRecords(batch, from, epoch, described) };
      }
      case 'sealed':
        return { kind: 'sealed', folded: (await long?.sealed.fold(question.part)) ?? null };
      case 'committed':
        return { kind: 'committed', stop: (await long?.committed(question.commit)) ?? false };
    }
  } catch (error) {
    return { kind: 'failed', failure: toWireError(error) };
  }
};

const describedIn = (
  records: readonly LogRecord[],
  { describe }: LongRunSources,
): readonly DescribedHistory[] => {
  const histories = new Set(records.map(({ key, bytes }) => key ?? openRecord(bytes)?.envelope.history));
  return [...histories].flatMap((history) => (history === undefined ? [] : (describe(history) ?? [])));
};

/** What of an answer is not copied. */
export const movedIn = (found: ThreadAnswer): ArrayBuffer[] => {
  if (found.kind === 'records') return [found.records.bytes.buffer, found.records.heads.buffer];
  return found.kind === 'sealed' && found.folded !== null ? [found.folded.encoded.buffer as ArrayBuffer] : [];
};
