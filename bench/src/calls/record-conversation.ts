import { openHome } from '@stemma/home';
import { join } from 'node:path';
import { said } from '../growth/conversation.ts';
import { onDisk } from '../growth/figures.ts';
import { ANSWERS } from './answers.ts';

export type RecordedConversation = {
  /** Space taken on disk after everything was closed. */
  readonly bytes: number;
  readonly parts: Readonly<Record<string, number>>;
  /** The bodies of all requests and answers, one after the other. */
  readonly raw: number;
  /** Milliseconds for a call and its end. */
  readonly perCall: number;
};

const by = { recorder: 'bench' };

type Message = { readonly role: string; readonly content: string };

/** What each conversation begins with. */
const SYSTEM: Message = { role: 'system', content: 'You answer.' };

const bodyOf = (messages: readonly Message[]): Uint8Array =>
  Buffer.from(JSON.stringify({ model: 'bench', messages, temperature: 0 }));

/** The body of the request of a turn. */
export const requestOf = (turn: number): Uint8Array => {
  const earlier = Array.from({ length: turn - 1 }, (_, i) => said(i + 1)).flatMap(({ question, answer }) => [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ]);
  return bodyOf([SYSTEM, ...earlier, { role: 'user', content: said(turn).question }]);
};

/** A conversation as the proxy records it: each call sends all messages again, and brings 2 KB. */
export const recordConversation = async ({
  directory,
  turns,
  form,
}: {
  readonly directory: string;
  readonly turns: number;
  readonly form: keyof typeof ANSWERS;
}): Promise<RecordedConversation> => {
  const home = await openHome({ directory, create: true });
  const messages: Message[] = [SYSTEM];
  let raw = 0;
  const started = performance.now();
  for (let turn = 1; turn <= turns; turn += 1) {
    const { question, answer } = said(turn);
    const message = { role: 'assistant', content: answer };
    messages.push({ role: 'user', content: question });
    const request = bodyOf(messages);
    const id = callId(turn);
    const { branch } = await home.calls.recordRequest({
      ...{ id, by, messages, within: { run: 'bench' } },
      facts: { api: 'openai.chat', model: 'bench', parameters: { temperature: 0 }, tools: null, request },
    });
    const response = ANSWERS[form](turn, answer);
    await home.calls.finishCall(branch, {
      ...{ by, attemptId: id, status: 'answered', httpStatus: 200, finishReason: 'stop', model: 'bench' },
      usage: { input: 500 * turn, output: 250, cached: null, cacheWrite: null, reasoning: null },
      ...{ firstByteMs: 3, durationMs: 12, error: null, answer: message, response },
    });
    // Calls of an agent are further apart than it takes to fold one; how many are folded at once decides how many pages stay free.
    await home.catchUp();
    messages.push(message);
    raw += request.length + response.length;
  }
  const perCall = (performance.now() - started) / turns;
  await home.read.histories();
  await home.close();
  const size = (part: string): number => onDisk(join(directory, part));
  return { bytes: onDisk(directory), parts: { log: size('log'), rows: size('rows') }, raw, perCall };
};

export const callId = (turn: number): string => `call-${turn}`;

/** Milliseconds for the bytes of the request of one call. */
export type ReadRequest = {
  readonly size: number;
  /** The first thing that a process reads. */
  readonly cold: number;
  /** The first time that this one is read, by a process that has read others in another opening of the home. */
  readonly opened: number;
  /** Read again. */
  readonly again: number;
};

/** How many other requests a process reads before those that are read by a process that runs. */
const OTHERS = 40;

/** Reads the request of one call in a process of its own, in each of these states. */
export const readOneRequest = async ({
  directory,
  turn,
  turns,
}: {
  readonly directory: string;
  readonly turn: number;
  /** How many calls there are. */
  readonly turns: number;
}): Promise<ReadRequest> => {
  const inHome = async <T>(fn: (read: (turn: number) => Promise<Read>) => Promise<T>): Promise<T> => {
    const home = await openHome({ directory });
    const history = await home.calls.locate(callId(turn));
    const found = await fn(async (which) => {
      const started = performance.now();
      const { length } = await home.calls.body(history, callId(which), 'request');
      return { ms: performance.now() - started, size: length };
    });
    await home.close();
    return found;
  };
  const { ms: cold, size } = await inHome((read) => read(turn));
  await inHome(async (read) => {
    for (let other = 1; other <= OTHERS; other += 1) await read(Math.ceil((turns * other) / OTHERS));
  });
  return inHome(async (read) => {
    const { ms: opened } = await read(turn);
    let again = Infinity;
    for (let time = 0; time < 5; time += 1) again = Math.min(again, (await read(turn)).ms);
    return { size, cold, opened, again };
  });
};

type Read = { readonly ms: number; readonly size: number };
