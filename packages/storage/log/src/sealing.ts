import { pack, unpackFrom, type Packable } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Author, Body, StemmaEvent } from '@stemma/events';
import { createHash } from 'node:crypto';
import { checkEvents } from './check-events.ts';
import { upcast, type RawEvent } from './upcast.ts';

/** The keys of erasable histories. */
export type FrameSealer = {
  /** True if frames of the history are sealed. */
  seals(history: string): boolean;
  /** True if `open` has the key: without it nothing may be shown of what was opened before, either. */
  canOpen(history: string): boolean;
  /** @param context is bound to the result: it opens with the same only */
  seal(history: string, plain: Uint8Array, context: Uint8Array): Uint8Array;
  /** @throws E_HISTORY_ERASED, E_HISTORY_SEALED without the key, E_FRAME_INVALID if it was altered */
  open(history: string, sealed: Uint8Array, context: Uint8Array): Uint8Array;
  /** Destroys the key, for ever; what is known of the erasure is kept. Nothing happens if that was done before. */
  destroy(history: string, erasure: Erasure): void;
};

/** Who had a history erased, when (nanoseconds since 1970) and why. */
export type Erasure = { readonly at: bigint; readonly actor: string; readonly reason: string };

/** What a frame says of the erasure of its history. */
export const erasureIn = (body: Body<StemmaEvent>): Erasure | undefined => {
  if (!tellsOfErasure(body)) return undefined;
  const [first] = body.events;
  return {
    at: body.at,
    actor: 'actor' in body ? body.actor : '',
    reason: first?.type === 'InterventionRecorded' ? first.notes : '',
  };
};

type FrameNumber = { readonly history: string; readonly seq: number };

/** Who wrote a sealed frame and what: in the clear only when it is opened. */
const SEALED: Author = { recorder: 'sealed' };

const contextOf = (
  { history, seq }: FrameNumber,
  { branchId, at }: Pick<Body, 'branchId' | 'at'>,
): Uint8Array => pack([history, seq, branchId, at] as Packable);

/** True for the frame that tells of the erasure: it must be read when nothing else can be. */
const tellsOfErasure = ({ events }: Body<StemmaEvent>): boolean =>
  events.some(({ type }) => type === 'HistoryErased');

/** The body as it is stored: sealed if the history is erasable, else the same. */
export const sealBody = (
  frame: FrameNumber,
  body: Body,
  sealer: FrameSealer | undefined,
): Body<StemmaEvent> => {
  if (sealer?.seals(frame.history) !== true || tellsOfErasure(body)) return body;
  const { at, branchId, command, digest, events } = body;
  const author = 'actor' in body ? { actor: body.actor } : { recorder: body.recorder };
  const plain = pack({ ...author, command, digest, events: events as unknown as Packable });
  const sealed = sealer.seal(frame.history, plain, contextOf(frame, body));
  return {
    ...SEALED,
    at,
    branchId,
    command: `sealed:${frame.seq}`,
    // That of the command could confirm a guess of what it said.
    digest: new Uint8Array(createHash('sha256').update(sealed).digest()),
    events: [{ type: 'FrameSealed', payload: { content: Buffer.from(sealed).toString('base64') } }],
  };
};

/** The body as it was decided. @throws as `FrameSealer.open` */
export const openBody = (
  frame: FrameNumber & { readonly v: number },
  body: Body<StemmaEvent>,
  sealer: FrameSealer | undefined,
): Body<StemmaEvent> => {
  const [event] = body.events;
  if (event?.type !== 'FrameSealed') return body;
  if (sealer === undefined) throw withoutKey(frame.history);
  const sealed = new Uint8Array(Buffer.from(event.payload.content, 'base64'));
  const plain = sealer.open(frame.history, sealed, contextOf(frame, body));
  const { value } = unpackFrom(plain, 0);
  const { command, digest, events, ...author } = value as {
    readonly command: string;
    readonly digest: Uint8Array;
    readonly events: readonly RawEvent[];
  };
  const { at, branchId } = body;
  return {
    ...(author as unknown as Author),
    at,
    branchId,
    command,
    digest,
    events: checkEvents(upcast(frame.v, events), false),
  };
};

export const withoutKey = (history: string): Error =>
  fail('E_HISTORY_SEALED', `the history ${history} is sealed, and its key is not here`, { history });
