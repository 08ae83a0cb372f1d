import { isStemmaError } from '@stemma/errors';
import { commandId } from '../parts/command-id.ts';
import { plural, textOfMessage } from '../parts/words.ts';
import {
  given,
  goesTo,
  jsonOf,
  rootOf,
  stays,
  usage,
  type Done,
  type Fields,
  type InterventionRequest,
} from './intervention-request.ts';

const secondsOf = ({ seconds = '' }: Fields): { seconds?: number } =>
  seconds === '' ? {} : { seconds: Number(seconds) };

/** What a pool's mind answers; undefined: it is no pool. */
export const askPool = async ({
  client,
  fields,
  target: { history },
  who,
}: InterventionRequest): Promise<Done | undefined> => {
  const { question = '', messages = '' } = fields;
  try {
    const reply = await client.askPool({
      history,
      body: {
        ...{ id: commandId(), ...who, ...secondsOf(fields), question },
        ...given(fields, 'mind'),
        ...(messages === '' ? {} : { messages: Number(messages) }),
      },
    });
    return stays(`${reply.mind} was shown ${plural(reply.messages, 'message')} and answers: ${reply.answer}`);
  } catch (error) {
    if (isStemmaError(error, 'E_NOT_A_POOL')) return undefined;
    throw error;
  }
};

/** Lets a model answer on a branch, as often as the dialog says. */
export const runCalls = async ({
  client,
  fields,
  target: { history, at, isTip },
  who,
}: InterventionRequest): Promise<Done> => {
  const answer = await client.continueBranch({
    history,
    body: {
      ...{ run: commandId(), ...who, ...secondsOf(fields) },
      calls: Number(fields['calls'] ?? '1'),
      ...given(fields, 'mind', 'name'),
      ...(at === undefined || isTip ? {} : { at }),
    },
  });
  const answered = textOfMessage(answer.answer);
  const failed = answer.error === null ? '' : `: ${answer.error.message} (${answer.error.code})`;
  return goesTo(
    answer.branch,
    `${plural(answer.calls.length, 'call')} made; ${answer.why}${failed}${answered === '' ? '' : `. It answers: ${answered}`}`,
  );
};

/** Sends a recorded call again. */
export const retryCall = async ({
  client,
  fields,
  target: { history, at },
  who,
}: InterventionRequest): Promise<Done> => {
  const { mind = '', set = '' } = fields;
  if (at === undefined) throw usage('look at a call first: the draft was not sent yet');
  const answer = await client.retryCall({
    history,
    body: {
      ...{ run: commandId(), ...who, ...secondsOf(fields), call: at },
      times: Number(fields['times'] ?? '1'),
      ...(mind === '' ? {} : { minds: [mind] }),
      ...(set === '' ? {} : { set: jsonOf(set) as Record<string, unknown> }),
    },
  });
  const { sameTools, answers } = answer;
  return goesTo(
    answers[0]?.branch ?? null,
    `${answers.length} answers; ${sameTools.count} of ${sameTools.of} call the tools that the first one called`,
  );
};

/** Sets a breakpoint that holds calls. */
export const setBreakpoint = async ({
  client,
  fields,
  target: { history },
  who,
}: InterventionRequest): Promise<Done> => {
  const { cycle = '', timeout = '' } = fields;
  const added = await client.addBreakpoint({
    history,
    body: {
      ...who,
      ...given(fields, 'when', 'model', 'tool', 'changed'),
      ...(cycle === '' ? {} : { cycle: Number(cycle) }),
      ...(timeout === '' ? {} : { timeout_ms: Number(timeout) * 1_000 }),
      ...(fields['then'] === 'abort' ? { then: 'abort' as const } : {}),
    },
  });
  return stays(`Breakpoint ${added.name} is set`);
};

/** Sends a held call, or tells its client that it is not sent. */
export const releaseCall = async ({
  client,
  fields,
  target: { history },
  who,
}: InterventionRequest): Promise<Done> => {
  const { attempt = '', message = '' } = fields;
  const abort = fields['how'] === 'abort';
  if (attempt === '') throw usage('no call is held');
  await client.release({
    history: rootOf(history),
    attempt,
    body: { ...who, abort, ...(message === '' ? {} : { message }) },
  });
  return stays(abort ? 'The call is not sent; its client is told so' : 'The call goes out');
};
