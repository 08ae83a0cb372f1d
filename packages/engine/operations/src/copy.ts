import { openDirectoryContents } from '@stemma/contents';
import { fail } from '@stemma/errors';
import { sameBytes, type EventLog, type HeadState } from '@stemma/log';
import { join, resolve } from 'node:path';
import { acceptedFrames } from './frames/accepted-frames.ts';
import { copyFrames, type FramesSide } from './frames/copy-frames.ts';
import { openHomeLog } from './open-log.ts';

export type CopyOptions = {
  /** A home's directory, or `kafka://HOST:PORT/PREFIX`. */
  readonly from: string;
  readonly to: string;
  /** The home that holds the contents, if a log is on Kafka. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Called with the number of frames copied so far, those of an earlier copy included. */
  readonly progress?: (frames: number) => void;
};

export type CopyReport = {
  readonly histories: number;
  /** Frames appended now; `before`: frames that an earlier copy had appended. */
  readonly frames: number;
  readonly before: number;
  /** The number of contents that were stored and verified. */
  readonly contents: number;
  /** Histories of which only the frames before a damaged record could be copied. */
  readonly damaged: readonly string[];
  readonly from: string;
  readonly to: string;
};

/**
 * Copies the accepted frames of every history, byte for byte and in their order, to another log, which has its own id
 * (record §5). It stores and verifies contents before the frames that name them. It skips what the target already has, so
 * an interrupted copy is resumed by running it again. At the end it compares every history of both logs.
 *
 * @throws E_USAGE if the target is the home of the source on Kafka; E_LOG_NOT_EMPTY if it holds anything else: both before
 *   anything is written; E_HOME_NOT_FOUND,
 *   E_LOG_NOT_FOUND for the source; E_CONTENT_MISSING, E_CONTENT_DAMAGED; E_PARTITION_CLOSED; E_CANCELLED
 */
export const copyLog = async (options: CopyOptions): Promise<CopyReport> => {
  const { from, to } = options;
  refuseOwnHome(options);
  await using source = await openCopySide(from, options.directory, false);
  await using target = await openCopySide(to, options.directory, true);
  if (source.log.id === target.log.id) throw fail('E_USAGE', `${from} and ${to} are the same log`);
  const existing = await readHeads(target.log);
  if (existing.size > 0) await checkTargetIsPrefix(source.log, existing, to);
  const copied = await copyFrames(source, target, existing, options);
  await checkSameHeads(source.log, target.log, copied.heads);
  const damaged = [...copied.heads].filter(([, { state }]) => state !== 'open').map(([history]) => history);
  const { frames, before, contents } = copied;
  return {
    histories: copied.heads.size,
    frames,
    before,
    contents,
    damaged,
    from: source.log.id,
    to: target.log.id,
  };
};

const isKafka = (address: string): boolean => address.startsWith('kafka:');

/**
 * The home of a log on Kafka would have a log of its own beside it, with the same histories and the same contents: whoever
 * opens it without `STEMMA_LOG` would go on in the copy. @throws E_USAGE
 */
const refuseOwnHome = ({ from, to, directory }: CopyOptions): void => {
  if (isKafka(from) && !isKafka(to) && resolve(to) === resolve(directory))
    throw fail(
      'E_USAGE',
      `${to} is the home with the contents of ${from}: its histories would have two logs; copy them to another directory`,
    );
};

type CopySide = FramesSide & AsyncDisposable;

const openCopySide = async (address: string, home: string, create: boolean): Promise<CopySide> => {
  const kafka = isKafka(address);
  const directory = kafka ? home : resolve(address);
  const { log } = await openHomeLog({ directory, create, ...(kafka && { address }) });
  try {
    const contents = await openDirectoryContents(join(directory, 'contents'));
    return {
      log,
      contents,
      [Symbol.asyncDispose]: async () => {
        await contents.close();
        await log.close();
      },
    };
  } catch (error) {
    await log.close();
    throw error;
  }
};

const readHeads = async (log: EventLog): Promise<Map<string, HeadState>> => {
  const heads = new Map<string, HeadState>();
  const frames = acceptedFrames(log, heads);
  while ((await frames.next()).done !== true);
  return heads;
};

/** @throws E_LOG_NOT_EMPTY unless every history of the target is the beginning of the same one of the source */
const checkTargetIsPrefix = async (
  source: EventLog,
  existing: ReadonlyMap<string, HeadState>,
  to: string,
): Promise<void> => {
  const unmatched = new Map(existing);
  for await (const frames of acceptedFrames(source, new Map()))
    for (const { envelope, hash } of frames) {
      const head = unmatched.get(envelope.history);
      if (head?.next === envelope.seq + 1 && sameBytes(head.prev, hash)) unmatched.delete(envelope.history);
    }
  const [history] = unmatched.keys();
  if (history !== undefined)
    throw fail(
      'E_LOG_NOT_EMPTY',
      `${to} holds a history ${history} that is not a prefix of the one to copy`,
      {
        history,
      },
    );
};

/** @throws E_CONFLICT if another process wrote to the target at the same time */
const checkSameHeads = async (
  source: EventLog,
  target: EventLog,
  expected: ReadonlyMap<string, HeadState>,
): Promise<void> => {
  const heads = await readHeads(target);
  for (const [history, { next, prev }] of expected) {
    const copy = heads.get(history);
    if (next > 0 && (copy?.next !== next || !sameBytes(copy.prev, prev)))
      throw fail(
        'E_CONFLICT',
        `the history ${history} differs between ${target.id} and ${source.id}: copy again`,
        {
          history,
        },
      );
  }
};
