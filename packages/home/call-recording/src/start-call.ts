import { bytesOf } from '@stemma/machine';
import {
  chooseBase,
  encodeBody,
  requestCompanion,
  type BaseBody,
  type UnkeptBody,
} from '@stemma/call-bodies';
import { canonicalJson, sameJson, type WideJson } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import {
  isBodyKept,
  type CallApi,
  type CallMatch,
  type CallOrigin,
  type PromptSummary,
  type HistoryEvent,
  type SentRequest,
} from '@stemma/events';
import { isSteered, type Step } from '@stemma/history';
import { readConfig, readTipSeq, type BranchRef } from '@stemma/history-store';
import { partitionOf } from '@stemma/log';
import type { Projection } from '@stemma/projector';
import { newestCallRow } from '@stemma/read-models';
import type { Redactor } from '@stemma/redaction';
import { defined } from '@stemma/values';
import { LRUCache } from 'lru-cache';

import { finishStep, type CallEnd } from './finish-call.ts';
import type { PromptHashes } from './prompt-hash.ts';
import { redactedRequest } from './redacted-body.ts';

/** What is known of a call besides its messages. */
export type CallFacts = {
  readonly api: CallApi;
  readonly model: string | null;
  readonly parameters: { readonly [name: string]: WideJson };
  /** Null: not known. */
  readonly tools: readonly WideJson[] | null;
  /** The body as it is sent, or what is known of one that is too large to be kept; null: not known. */
  readonly request: Uint8Array | UnkeptBody | null;
  /** How it goes out; by default nobody saw that. */
  readonly sent?: SentRequest | null;
  /** The request without its content codings, if it had some; null: nobody knows how to undo them. */
  readonly plainRequest?: Uint8Array | null;
  /** How the branch was found, and among which calls the next one is looked for; by default nobody looks for it. */
  readonly found?: { readonly scope: string; readonly match: CallMatch; readonly origin?: CallOrigin | null };
  /** A hash of the session that a header of the request names; undefined: none does. */
  readonly session?: string;
  /** The run of a program that makes it, where its scope does not say so. */
  readonly run?: string;
  /** What else is known of where it belongs. */
  readonly place?: StartCall['place'];
  /** Of a call that a file told of: how true its picture is. */
  readonly fidelity?: StartCall['fidelity'];
  /** Why it goes out as it came, if observers steer the branch. */
  readonly unsteered?: string;
  /** The hashes of the messages over that scope, if the caller has them. */
  readonly hashes?: PromptHashes;
  /** How it ended, if that is known already: then one command records both. */
  readonly end?: Omit<CallEnd, 'by' | 'attemptId'>;
};

type StartCall = Extract<Step, { op: 'start_call' }>;

/** What the next call of a branch shares with the last one: its request, and its tools. */
export type LastCall = {
  readonly location: EventRef;
  readonly hasRequest: boolean;
  readonly toolsAt: EventRef | null;
  /** The tools, if they are in memory. */
  readonly tools: readonly WideJson[] | null;
};

/** Bytes of requests that are kept to cut the next one by. */
const CACHE_BYTES = 16 * 1024 * 1024;

/** Makes the step that records a call; each request shares the bytes that the branch's one before it has. */
export type CallStarter = {
  step(
    branch: BranchRef,
    facts: CallFacts,
    inserts: readonly Step[],
    prompt: PromptSummary | null,
    /** The last call of the branch, if the caller knows it; null: there is none. */
    last?: LastCall | null,
  ): Promise<StartCall>;
  /** The step behind it that says how the attempt ended, if that is known; the command has the attempt's id. */
  end(attemptId: string, facts: CallFacts): readonly Step[];
  /**
   * The step was recorded: the next request of the branch is likely to begin as this one. Returns it as the last call;
   * undefined if the events have none.
   */
  recorded(
    branch: BranchRef,
    events: readonly HistoryEvent[],
    seq: number,
    facts: CallFacts,
  ): LastCall | undefined;
};

export const openCallStarter = (projection: Projection, redactor?: Redactor): CallStarter => {
  const bodies = new LRUCache<string, Uint8Array>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ length }) => length + 1,
  });
  const keyOf = (history: string, { seq, index }: EventRef): string => `${history} ${seq} ${index}`;

  const baseOf = async (history: string, location: EventRef): Promise<BaseBody> => {
    const choose = (): Promise<BaseBody> =>
      chooseBase(location, projection.payloads.framesOf(history), (at) => bodies.get(keyOf(history, at)));
    const base = await choose().catch(async (error: unknown) => {
      // The rows may not have the newest frames yet.
      if (!isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
      await projection.catchUp(partitionOf(history, projection.partitions));
      return choose();
    });
    bodies.set(keyOf(history, base.location), base.bytes);
    return base;
  };

  const lastCall = async ({ history, branchId }: BranchRef): Promise<LastCall | null> => {
    const row = await projection.read((rows) => newestCallRow(rows, history, branchId));
    if (row === undefined) return null;
    const { location, request, toolsAt } = row;
    return { location, hasRequest: request !== null && isBodyKept(request), toolsAt, tools: null };
  };

  const areTools = async (
    history: string,
    tools: readonly WideJson[],
    { toolsAt, tools: inMemory }: LastCall,
  ): Promise<boolean> => {
    if (toolsAt === null) return false;
    return inMemory === null
      ? (await knownTools(history, toolsAt)) === canonicalJson(redactor?.value([...tools]) ?? [...tools])
      : sameJson(inMemory, tools);
  };

  const knownTools = async (history: string, location: EventRef): Promise<string | null> => {
    const event = (await projection.payloads.events(history, location.seq))[location.index];
    if (event?.type !== 'CallStarted') return null;
    return canonicalJson((event.payload['data_tools'] ?? null) as WideJson);
  };

  return {
    async step(branch, facts, inserts, prompt, known) {
      const { api, model, parameters, tools, request: given, plainRequest, sent = null, unsteered } = facts;
      const { history, branchId } = branch;
      const isNamed =
        unsteered !== undefined &&
        (await projection.read((rows) =>
          isSteered(readConfig(rows, history, branchId, readTipSeq(rows, history, branchId)).config),
        ));
      const last = known === undefined ? await lastCall(branch) : known;
      const same =
        tools !== null && tools.length > 0 && last !== null && (await areTools(history, tools, last));
      const request = given === null ? null : await redactedRequest(given, api, redactor, plainRequest);
      const base = last?.hasRequest === true ? await baseOf(history, last.location) : null;
      const encoded = request === null ? null : encodeBody(request, base, companionOf(inserts));
      return {
        op: 'start_call',
        api,
        model,
        parameters,
        tools: same || tools === null || tools.length === 0 ? null : [...tools],
        toolsAt: same ? last.toolsAt : null,
        request: encoded?.body ?? null,
        prompt,
        own: encoded?.own ?? null,
        ...defined({ sent: sent ?? undefined, place: facts.place, fidelity: facts.fidelity }),
        ...(given !== null && request === null ? { withheld: true as const } : {}),
        ...(isNamed
          ? { steered: { request: null, own: null, changes: [], unsteered: unsteered.slice(0, 1024) } }
          : {}),
      };
    },
    end: (attemptId, { end }) => (end === undefined ? [] : [finishStep({ ...end, attemptId }, redactor)]),
    recorded({ history }, events, seq, { request, tools }) {
      const index = events.findIndex(({ type }) => type === 'CallStarted');
      const event = events[index];
      if (event?.type !== 'CallStarted') return undefined;
      const location = { seq, index };
      projection.payloads.keep(history, seq, events, bytesOf(events));
      const hasRequest = event.request !== null && isBodyKept(event.request);
      if (hasRequest && request instanceof Uint8Array && redactor === undefined)
        bodies.set(keyOf(history, location), request);
      return { location, hasRequest, toolsAt: event.toolsAt, tools };
    },
  };
};

/** As {@link requestCompanion} of the events that the steps become. */
const companionOf = (steps: readonly Step[]): Uint8Array => {
  const events = steps.flatMap((step) =>
    step.op === 'insert'
      ? [step.node, ...(step.siblings ?? [])].map(
          (node) => ({ type: 'NodeInserted', node }) as unknown as HistoryEvent,
        )
      : [],
  );
  return requestCompanion(events);
};
