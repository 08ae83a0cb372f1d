import { fail } from '@stemma/errors';
import { FRAME_VERSION, type Body, type Frame } from '@stemma/events';
import { encodeFrame } from '../body.ts';
import { decodeEnvelope } from '../envelope.ts';
import { readFrame, type ContentSource } from '../read-frame.ts';
import { HASH_BYTES, sealRecord } from '../record.ts';
import { sealBody } from '../sealing.ts';
import { readOn, type HistorySession, type OpenPartition } from './open-partition.ts';
import type { ContentSink, Decision, SentFrame, Task, WriterOptions } from './types.ts';

/**
 * The result of preparing a command: a frame to send, or the `seq` at which it was accepted before. `later`: the answer
 * depends on frames without a known outcome, so the command is prepared again when they have one.
 */
type Prepared<C> =
  | { readonly kind: 'sent'; readonly sent: SentFrame<C> }
  | { readonly kind: 'repeated'; readonly seq: number; readonly frame: Frame | null }
  | { readonly kind: 'refused'; readonly error: unknown }
  | { readonly kind: 'later' };

/**
 * Like {@link prepare}, but refuses a command only at the end of the log: a refusal may rest on a state that others
 * have changed.
 */
export const prepareAtEnd = async <C>(
  at: OpenPartition<C>,
  task: Task<C>,
  { contents }: WriterOptions<C>,
): Promise<Prepared<C>> => {
  const { history } = task.intent;
  for (;;) {
    const prepared = await at.sessions.load(history).then(
      (session) => prepare(session, task, contents),
      (error: unknown) => ({ kind: 'refused', error }) as const,
    );
    if (prepared.kind !== 'refused') return prepared;
    const moved = await readOn(at);
    // The records just read may have put back commands that were sent before this one.
    if (at.commands.queues.get(history)?.[0] !== task) return { kind: 'later' };
    if (!moved) return prepared;
  }
};

/** Decides a command, encodes it, decodes and checks those bytes as every reader does, and applies them (record §3). */
const prepare = async <C>(
  session: HistorySession<C>,
  task: Task<C>,
  contents: ContentSink & ContentSource,
): Promise<Prepared<C>> => {
  try {
    refuseStopped(session);
    const decided = await session.session.decide(task.intent);
    if ('repeats' in decided) {
      if (session.sent.length > 0) return { kind: 'later' };
      return { kind: 'repeated', seq: decided.repeats, frame: decided.frame };
    }
    return { kind: 'sent', sent: await encode(session, task, decided, contents) };
  } catch (error) {
    return session.sent.length > 0 ? { kind: 'later' } : { kind: 'refused', error };
  }
};

const encode = async <C>(
  { session, history }: HistorySession<C>,
  task: Task<C>,
  { author, at, branchId, events }: Decision,
  contents: ContentSink & ContentSource,
): Promise<SentFrame<C>> => {
  const { id, digest } = task.intent;
  const envelope = { v: FRAME_VERSION, history, seq: session.next, prev: session.prev };
  const body: Body = { ...author, at, command: id, digest, branchId, events };
  const encoded = encodeFrame(envelope, sealBody(envelope, body, contents.sealer));
  const record = sealRecord(encoded.bytes);
  for (const { bytes } of encoded.contents) await contents.put(bytes);
  const own = decodeEnvelope(encoded.bytes);
  if (!own) throw fail('E_INTERNAL', `the frame ${history} ${session.next} does not decode`);
  const known = new Map(encoded.contents.map(({ ref, bytes }) => [ref.sha256, bytes]));
  const source: ContentSource = {
    get: async (ref) => known.get(ref.sha256) ?? (await contents.get(ref)),
    sealer: contents.sealer,
  };
  const frame = await readFrame({ envelope: own.envelope, bytes: encoded.bytes, bodyAt: own.bodyAt }, source);
  const hash = record.subarray(record.length - HASH_BYTES);
  await session.apply(frame, hash);
  return { task, frame, hash, record };
};

const refuseStopped = <C>({ history, stopped }: HistorySession<C>): void => {
  if (stopped === 'damaged')
    throw fail('E_HISTORY_DAMAGED', `the history ${history} is damaged`, { history });
  if (stopped === 'defective')
    throw fail('E_HISTORY_DEFECTIVE', `the history ${history} is defective`, { history });
};
