import { isStemmaError } from '@stemma/errors';
import { decoded } from '@stemma/exchanges';
import type { Home } from '@stemma/home';
import {
  awsMessages,
  framingOfAnswer,
  openRequestValues,
  readAnswer,
  type ModelApi,
  type RequestValues,
} from '@stemma/model-apis';
import { replaceInBody, type LiveCall, type Match, type Rerun, type Served } from '@stemma/rerun';
import { type ReadRun, type RunAttempt } from './read-recording.ts';
import { openLiveCalls, type LiveOptions } from './live-calls.ts';
import { stoppedReply } from './stopped-reply.ts';
import { serveProviderCalls } from './provider-calls.ts';
import type { AskedCall, CallReply, ServedCalls } from './served-calls.ts';

/** What answers the calls of a rerun. */
export type ServedRunOptions = {
  readonly home: Pick<Home, 'calls'>;
  readonly run: ReadRun;
  readonly rerun: Rerun;
  readonly live: LiveOptions;
  /** True: what differs, and what no recorded call stands for, goes to the provider. */
  readonly isLive: boolean;
  /** True: requests that are no calls of models go to their provider. */
  readonly passesOthers: boolean;
  /** Nanoseconds since 1970. */
  readonly now: () => bigint;
};

/** Answers calls with the recorded ones that they stand for, in the order in which they come. */
export const serveRun = (given: ServedRunOptions): ServedCalls => {
  const { rerun, now, passesOthers } = given;
  const options = { ...given, goLive: openLiveCalls(given.live, rerun) };
  const requests = openRequestValues();
  const providerCalls = serveProviderCalls(given.home, given.run.providerCalls);
  return {
    replyToProviderCall: providerCalls.reply,
    reply: async (call) => {
      const asked = await askedOf(requests, call);
      if (asked === undefined)
        return stoppedReply(call.api, 'the body of the request is no JSON: no recorded call stands for it');
      return replyTo(options, asked, rerun.match(asked, now()));
    },
    liveEnded: async (number, { api, httpStatus, contentType, coding, body }) => {
      const read =
        httpStatus === null
          ? null
          : readAnswer(api, { status: httpStatus, contentType }, await decoded(body, coding));
      rerun.answered(number, read?.answer ?? null, read?.id ?? null);
    },
    passes: () => passesOthers,
  };
};

const askedOf = async (
  requests: RequestValues,
  { api, path, coding, body }: AskedCall,
): Promise<LiveCall | undefined> => {
  try {
    return { api, path, request: requests.read(api, await decoded(body, coding)) };
  } catch (error) {
    if (isStemmaError(error) || error instanceof TypeError) return undefined;
    throw error;
  }
};

type ServingOptions = ServedRunOptions & { readonly goLive: ReturnType<typeof openLiveCalls> };

const replyTo = async (options: ServingOptions, asked: LiveCall, match: Match): Promise<CallReply> => {
  const { api, path, request } = asked;
  const goLive = (): Promise<CallReply> => options.goLive({ api, path, request, number: match.number });
  switch (match.kind) {
    case 'serve':
      return servedReply(options, api, match, match.how);
    case 'differs':
      if (match.served !== null) return servedReply(options, api, match.served, 'differs');
      if (options.isLive) return goLive();
      return stoppedReply(api, `the call differs from ${match.difference.of} of the recording`);
    case 'extra':
      if (options.isLive) return goLive();
      return stoppedReply(api, 'no call of the recording stands for this one');
    case 'not kept':
      if (options.isLive) return goLive();
      return stoppedReply(api, `the answer to ${match.of} of the recording is not kept`);
    case 'live':
      return goLive();
  }
};

/** What a recorded attempt was answered with, with the values of now in place of those that are bound to them. */
const servedReply = async (
  { home, run }: ServedRunOptions,
  api: ModelApi,
  { attempt: id, call, replacements }: Served,
  how: string,
): Promise<CallReply> => {
  const attempt = run.attempts.get(id);
  if (attempt === undefined) throw new Error(`the recording has no attempt ${id}`);
  const { httpStatus, responseHead, retryAfter } = attempt;
  const marks = { 'x-stemma-rerun': `${how} ${call}` };
  if (httpStatus === null) return unansweredReply(attempt, marks);
  const recorded =
    attempt.response === null ? NO_BYTES : await home.calls.body(attempt.history, id, 'response');
  const isChanged = !replacements.isEmpty;
  const body = isChanged
    ? replaceInBody(api, responseHead.contentType, await decoded(recorded, responseHead.coding), replacements)
    : recorded;
  return {
    kind: 'served',
    status: httpStatus,
    headers: {
      ...marks,
      ...headerOf('content-type', responseHead.contentType),
      ...headerOf('content-encoding', isChanged ? null : responseHead.coding),
      ...headerOf('retry-after', retryAfter),
    },
    pieces: piecesOf(api, body, responseHead.contentType, isChanged ? null : responseHead.coding),
    isCut: isCutOff(attempt),
  };
};

const NO_BYTES = new Uint8Array();

const headerOf = (name: string, value: string | null): Readonly<Record<string, string>> =>
  value === null ? {} : { [name]: value };

/** What a client is told whose provider could not be reached; of a client that left itself nobody knows what it would have got. */
const unansweredReply = (
  { error, status }: RunAttempt,
  marks: Readonly<Record<string, string>>,
): CallReply => ({
  kind: 'served',
  status: 502,
  headers: { ...marks, 'content-type': 'application/json' },
  pieces: [new TextEncoder().encode(JSON.stringify({ error: { type: 'upstream_error', ...error } }))],
  isCut: status === 'cancelled',
});

/** Errors of connections, as Node.js names them. */
const OF_CONNECTION = /^(?:ECONN|EPIPE|ETIMEDOUT|EAI_|ENOTFOUND|EHOST|ENET|HPE_)/;

const isCutOff = ({ status, error }: RunAttempt): boolean =>
  status === 'cancelled' || (status !== 'answered' && OF_CONNECTION.test(error?.code ?? ''));

/** A stream event by event, anything else as one piece. */
const piecesOf = (
  api: ModelApi,
  body: Uint8Array,
  contentType: string | null,
  coding: string | null,
): readonly Uint8Array[] => {
  if (body.length === 0) return [];
  const framing = coding === null ? framingOfAnswer(api, contentType, body) : null;
  if (framing === 'lines') return linesOf(body);
  if (framing === 'aws') return messagesOf(body);
  if (framing !== 'events') return [body];
  const pieces: Uint8Array[] = [];
  let start = 0;
  for (let at = 1; at < body.length; at++) {
    // A blank line ends an event: LF LF, or CR LF CR LF.
    const isEnd = body[at] === LF && (body[at - 1] === LF || (body[at - 1] === CR && body[at - 2] === LF));
    if (!isEnd) continue;
    pieces.push(body.subarray(start, at + 1));
    start = at + 1;
  }
  if (start < body.length) pieces.push(body.subarray(start));
  return pieces;
};

const [LF, CR] = [0x0a, 0x0d];

const linesOf = (body: Uint8Array): readonly Uint8Array[] => {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < body.length;) {
    const found = body.indexOf(LF, start);
    const end = found === -1 ? body.length : found + 1;
    lines.push(body.subarray(start, end));
    start = end;
  }
  return lines;
};

/** The messages of AWS's event stream; what is damaged or cut off is one piece. */
const messagesOf = (body: Uint8Array): readonly Uint8Array[] => {
  const pieces: Uint8Array[] = [];
  let done = 0;
  try {
    for (const { bytes } of awsMessages(body)) {
      pieces.push(bytes);
      done += bytes.length;
    }
  } catch (error) {
    if (!isStemmaError(error)) throw error;
  }
  return done < body.length ? [...pieces, body.subarray(done)] : pieces;
};
