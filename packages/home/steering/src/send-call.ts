import type { CallApi } from '@stemma/events';
import { chooseBase, encodeBody, type BaseBody } from '@stemma/call-bodies';
import { promptOf, type CallStarter } from '@stemma/call-recording';
import { readRequest, rewriteRequest, spliceRequest } from '@stemma/model-apis';
import type { EventRef } from '@stemma/context-tree';
import type { Projection } from '@stemma/projector';
import { findSteeredCall, newestCallRow } from '@stemma/read-models';
import { defined } from '@stemma/values';
import { LRUCache } from 'lru-cache';
import type { BranchWriter, Placed } from './branch-writer.ts';
import { outgoingMessages } from './outgoing.ts';
import type { OutgoingCall, SteeredCall, SteeredHome } from './types.ts';
import { unsteerable } from './unsteerable.ts';

/** Bytes of requests that are kept to cut the next one by. */
const CACHE_BYTES = 32 * 1024 * 1024;

type SendParts = {
  readonly home: SteeredHome;
  readonly projection: Projection;
  readonly starter: CallStarter;
  readonly writer: BranchWriter;
  /** The body without secrets, where rules take them out; null: it cannot be recorded. */
  readonly redactedRequest: (body: Uint8Array, api: CallApi) => Promise<Uint8Array | null>;
  readonly say: (sentence: string) => void;
};

type Retry = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Makes the snapshot that a call shows, and the request that shows it, and records both.
 *
 * @param drafted the indexes of its messages that the draft of its branch has been given already
 * @throws E_CALL_NOT_STEERED
 */
export type SendCall = (
  placed: Placed,
  call: OutgoingCall,
  drafted: readonly number[],
  retry: Retry,
) => Promise<SteeredCall>;

export const openSender = ({
  home,
  projection,
  starter,
  writer,
  redactedRequest,
  say,
}: SendParts): SendCall => {
  const bodies = new LRUCache<string, Uint8Array>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ length }) => length + 1,
  });
  /** The body that an attempt's request came with, to cut the next one by. */
  const cameBefore = async (history: string, branchId: number): Promise<BaseBody | null> => {
    const location = await projection.read((rows) => {
      const newest = newestCallRow(rows, history, branchId);
      if (newest === undefined) return undefined;
      const steered = findSteeredCall(rows, history, newest.attemptId);
      return steered?.request == null ? newest.location : steered.location;
    });
    if (location === undefined) return null;
    const keyOf = ({ seq, index }: EventRef): string => `${history} ${seq} ${index}`;
    const base = await chooseBase(location, projection.payloads.framesOf(history), (at) =>
      bodies.get(keyOf(at)),
    );
    bodies.set(keyOf(base.location), base.bytes);
    return base;
  };
  return async (placed, call, drafted, retry) => {
    const { branch, place } = placed;
    const { history, branchId } = branch;
    const { seq, brought, lost } = await writer.write(placed, call, true);
    const shown = await home.position(branch, `@s${seq}`);
    const { blocks, alignment } = await writer.look(shown, place.messages);
    const outgoing = outgoingMessages(call.api, blocks, alignment, place.messages);
    if ('fault' in outgoing) throw unsteerable(outgoing.fault);
    const written = spliceRequest(call.api, call.plain, outgoing.messages);
    if (!written.ok) throw unsteerable(written.reason);
    const { body: plain, said: asked } = askedWith(call, written.body);
    const isSame = plain === call.plain;
    const went = isSame ? call.body : plain;
    for (const { node, seq: by } of lost)
      say(`the change of ${node} by frame ${by} is lost: the agent has changed the same message`);
    const changes = [...outgoing.changes, ...lost];
    const found = { scope: place.scope, match: place.match, origin: place.origin };
    // What was written anew has no content coding.
    const { sent = null, ...said } = asked;
    const going = sent === null || isSame ? sent : { ...sent, coding: null };
    const facts = {
      api: call.api,
      ...said,
      sent: going,
      request: went,
      found,
      ...placeOf(place),
      ...(isSame && { plainRequest: call.plain }),
    };
    const step = await starter.step(branch, facts, [], {
      ...found,
      ...promptOf(place.hashes, inOrder(drafted, brought)),
    });
    const came = isSame ? null : await redactedRequest(call.plain, call.api);
    const encoded =
      came === null ? null : encodeBody(came, await cameBefore(history, branchId), new Uint8Array());
    const steered =
      changes.length === 0 && isSame
        ? {}
        : {
            steered: {
              request: encoded?.body ?? null,
              own: encoded?.own ?? null,
              changes: [...changes],
              unsteered: null,
            },
          };
    const recorded = retry(async () => {
      const outcome = await home.submit({
        id: call.id,
        history,
        branchId,
        by: call.by,
        steps: [{ ...step, ...steered, position: { branchId: shown.branchId, seq: shown.seq } }],
      });
      starter.recorded(branch, outcome.events, outcome.seq, facts);
    });
    recorded.catch(() => undefined);
    return { kind: 'sent', branch: { history, branchId }, body: isSame ? null : went, recorded };
  };
};

/** The body with the fields that are set, and what it says with them. @throws E_CALL_NOT_STEERED */
const askedWith = (
  { api, said, change }: OutgoingCall,
  body: Uint8Array,
): { readonly body: Uint8Array; readonly said: OutgoingCall['said'] } => {
  if (change === undefined || change.set === null) return { body, said };
  const changed = rewriteRequest(body, change.set);
  const read = readRequest(api, changed, said.sent?.path ?? null);
  if (!read.ok) throw unsteerable(read.reason);
  const { model, parameters, tools } = read;
  return { body: changed, said: { ...said, model, parameters, tools } };
};

/** What is recorded of a call's place besides its branch. */
const placeOf = ({
  session,
  run,
}: Placed['place']): { readonly place?: { session?: string; run?: string } } =>
  session === undefined && run === undefined ? {} : { place: defined({ session, run }) };

const inOrder = (...indexes: readonly (readonly number[])[]): readonly number[] =>
  [...new Set(indexes.flat())].sort((a, b) => a - b);
