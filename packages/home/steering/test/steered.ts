import { openCallStarter, openRequestRecorder, recordCall } from '@stemma/call-recording';
import type { WideJson } from '@stemma/canonical';
import { historyId, type Command, type Step } from '@stemma/history';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import { openMemoryLog } from '@stemma/log';
import { diffPositions, findServedPosition, openTreeLoader, selectIds, selectRange } from '@stemma/queries';
import { openSteering, type OutgoingCall, type SteeredHome, type Steering } from '@stemma/steering';
import { memoryServices } from '@stemma/test-kit/home';

export const ADA = { actor: 'ada', notes: 'to see what happens' };

/** A log and its rows in memory, and whatever steers calls over them: each stands for a process. */
export const openSteered = async (directory: string) => {
  const services = memoryServices(await openMemoryLog(), directory);
  const { projector, handler } = services;
  const warnings: string[] = [];
  const starter = openCallStarter(projector);
  const sources = { projection: projector, load: openTreeLoader() };
  const current = async <T>(fn: Parameters<typeof projector.read<T>>[0]): Promise<T> => {
    await projector.catchUp();
    return projector.read(fn);
  };
  const home: SteeredHome & Parameters<typeof openRequestRecorder>[0] = {
    catchUp: () => projector.catchUp(),
    submit: async (command) => {
      const outcome = await handler.submit(command);
      requests.accepted(outcome);
      return outcome;
    },
    recordCall: (branch, call) => recordCall(home, projector, branch, call, starter),
    position: (branch, ref = '') => current((rows) => findServedPosition(rows, branch, ref)),
    view: services.view,
    select: async (branch, selector) => {
      await projector.catchUp();
      return selectIds(sources, branch, selector, {});
    },
    range: async (branch, selector) => {
      await projector.catchUp();
      return selectRange(sources, branch, selector, {});
    },
    diff: async (branch, a, b, selector) =>
      diffPositions(sources, await home.position(branch, a), await home.position(branch, b), selector),
  };
  const requests = openRequestRecorder(home, projector, starter);
  let number = 0;
  return {
    home,
    projector,
    requests,
    warnings,
    open: (over: Partial<Pick<Parameters<typeof openSteering>[0], 'requests'>> = {}): Steering =>
      openSteering({
        ...{ home, projection: projector, starter, requests },
        redactedRequest: (body) => Promise.resolve(body),
        say: (sentence) => void warnings.push(sentence),
        ...over,
      }),
    /** A history that is steered from its beginning. */
    start: async (name: string): Promise<BranchRef> => {
      const branch = branchRefOf(historyId(name, ''), 0);
      const { history, branchId } = branch;
      const begins: Step[] = [
        { op: 'start', name },
        { op: 'config', set: { steer: true } },
      ];
      for (const step of begins)
        await home.submit({
          id: `${name} ${step.op}`,
          history,
          branchId,
          by: { recorder: 'test' },
          steps: [step],
        });
      return branch;
    },
    /** What an observer does to a branch. */
    intervene: (branch: BranchRef, actor: string, ...steps: Step[]) => {
      const { history, branchId } = branch;
      const command: Command = { id: `by ${actor} ${number++}`, history, branchId, by: { actor }, steps };
      return home.submit(command);
    },
    /** The frames of a history, each as the events it has. */
    eventsOf: async ({ history }: BranchRef) => {
      const events = [];
      const { seq } = await home.position(branchRefOf(history, 0));
      for (let at = 0; at <= seq; at++) events.push(...(await projector.payloads.events(history, at)));
      return events;
    },
  };
};

/** A call whose body says messages in a form that nobody would write them in anew. */
export const outgoing = (
  id: string,
  { history }: BranchRef,
  messages: readonly WideJson[],
  model = 'm',
): OutgoingCall => {
  const body = Buffer.from(
    `{ "model" : "${model}",\n "messages" : [ ${messages.map((each) => JSON.stringify(each, null, 1)).join(' ,')} ] }`,
  );
  return {
    ...{ id, by: { recorder: 'proxy' }, within: { history }, steer: false, api: 'openai.chat' },
    said: { model, parameters: {}, tools: null, messages },
    ...{ body, plain: body },
  };
};

export const user = (content: string) => ({ role: 'user', content });
export const assistant = (content: string) => ({ role: 'assistant', content });

export const open: AbortSignal = new AbortController().signal;

/** What a call goes out with, once it is recorded. */
export const sentBy = async (steering: Steering, call: OutgoingCall, gone = open): Promise<string> => {
  const became = await steering.call(call, gone, (work) => work());
  if (became.kind !== 'sent') throw new Error(`${call.id} became ${JSON.stringify(became)}`);
  await became.recorded;
  return Buffer.from(became.body ?? call.plain).toString();
};

/** The contents of the messages in a body. */
export const contentsIn = (body: string): readonly unknown[] =>
  (JSON.parse(body) as { messages: { content: unknown }[] }).messages.map(({ content }) => content);
