import { askedOf, readAnswer, writeAnswer, type ModelApi } from '@stemma/model-apis';
import type { CallChange } from '@stemma/home';
import type { WideJsonObject } from '@stemma/canonical';
import type { LiveCall, LiveStart, Rerun } from '@stemma/rerun';
import { defined } from '@stemma/values';
import type { CallReply, LiveUpstream } from './served-calls.ts';
import { stoppedReply } from './stopped-reply.ts';
import type { WhatIf } from './what-if.ts';

/** What live calls ask with instead of what the agent asks with. */
export type LiveSettings = {
  /** Fields of the body; null takes one away. */
  readonly set: WideJsonObject;
  /** The mind that is asked instead, and the one API that it understands; null: whom the agent asks. */
  readonly mind: {
    readonly spec: string;
    readonly api: ModelApi;
    readonly to: (stream: boolean) => LiveUpstream;
  } | null;
};

/** A branch, as `HISTORY:NAME`. `isShared`: it starts at a call of another conversation, of which its calls are no attempts. */
export type LiveBranch = { readonly place: string; readonly isShared: boolean };

/** What becomes of calls that the recording does not answer. */
export type LiveOptions = {
  readonly by: CallChange['by'];
  readonly whatIf: WhatIf | null;
  /** Null: calls ask as the agent does. */
  readonly settings: LiveSettings | null;
  /** The branch that the calls of a conversation are recorded on. */
  readonly placeOf: (start: LiveStart) => Promise<LiveBranch>;
  /** What the ids of answers that nobody gave end with. */
  readonly id: string;
  /** Nanoseconds since 1970. */
  readonly now: () => bigint;
};

/** A call that the recording does not answer. */
type Unanswered = Pick<LiveCall, 'api' | 'path' | 'request'> & { readonly number: number };

/** Says what becomes of each such call. The first one that stands for the call of a question is what the question is about. */
export const openLiveCalls = (
  { by, whatIf, settings, placeOf, id, now }: LiveOptions,
  rerun: Pick<Rerun, 'answered' | 'startOf'>,
): ((call: Unanswered) => Promise<CallReply>) => {
  let isEdited = false;
  /** Whether it is the call that the question is about. */
  const isFirst = ({ number }: Unanswered): boolean => {
    const { root, of, how } = rerun.startOf(number);
    return root === number && how === 'before' && of === whatIf?.from;
  };
  const changeOf = (call: Unanswered, isShared: boolean): CallChange | undefined => {
    const edited = whatIf?.edit ?? null;
    if (edited === null && settings === null && !isShared) return undefined;
    const edit = edited !== null && !isEdited && isFirst(call) ? edited : null;
    isEdited ||= edit !== null;
    return { by, edit, set: settings === null ? null : settings.set };
  };
  return async (call) => {
    const mind = settings?.mind ?? null;
    if (mind !== null && mind.api !== call.api)
      return stoppedReply(
        call.api,
        `the call is in the form of ${call.api}, and ${mind.spec} takes ${mind.api}`,
      );
    const { place, isShared } = await placeOf(rerun.startOf(call.number));
    const answer = whatIf?.answer ?? null;
    if (answer === null || !isFirst(call))
      return {
        ...{ kind: 'live', number: call.number, place },
        ...defined({ change: changeOf(call, isShared), to: mind?.to(streamOf(call)) }),
      };
    const reply = answerReply(call, answer, id, now());
    if (reply === undefined)
      return stoppedReply(call.api, 'an answer is in the form of an API that is known');
    rerun.answered(call.number, reply.answer, reply.answerId);
    return reply.reply;
  };
};

const streamOf = ({ api, path, request }: Unanswered): boolean => askedOf(api, request, path).stream;

/** An answer of the question, in the form of the call; undefined: its form is not known. */
const answerReply = (
  { api, path, request }: Unanswered,
  message: WideJsonObject,
  id: string,
  now: bigint,
) => {
  if (api === 'other') return undefined;
  const { model, stream } = askedOf(api, request, path);
  const { contentType, body } = writeAnswer(api, {
    ...{ message, id, at: Number(now / 1_000_000_000n) },
    model: model ?? '',
    stream,
  });
  const read = readAnswer(api, { status: 200, contentType }, body);
  const reply: CallReply = {
    kind: 'served',
    status: 200,
    headers: { 'content-type': contentType, 'x-stemma-rerun': 'answered' },
    pieces: [body],
    isCut: false,
  };
  return { reply, answer: read.answer, answerId: read.id };
};
