import { openCallStarter, openRequestRecorder, recordCall } from '@stemma/call-recording';
import { openCommandHandler } from '@stemma/command-handler';
import { openDirectoryContents } from '@stemma/contents';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { openProjector } from '@stemma/projector';
import { findServedPosition, viewOf } from '@stemma/queries';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { join } from 'node:path';
import { median } from '../measure.ts';

type Message = { readonly role: string; readonly content: string };
type RecordTarget = Parameters<typeof openRequestRecorder>[0];

/** Milliseconds of the processor to find where a call belongs, by how it goes on. */
export type PlacedCalls = Readonly<Record<PlacedAs, number>>;
export type PlacedAs = keyof typeof WAYS;

const by = { recorder: 'bench' };
/** Calls of each conversation that are recorded. */
const TURNS = 4;
const SYSTEM: Message = {
  role: 'system',
  content: 'You run a harbour, and answer in one sentence. '.repeat(10),
};
const text = (who: number, i: number): string => `${who} says ${i}, as many do in a harbour. `.repeat(5);

const said = (who: number, turns: number): readonly Message[] => [
  SYSTEM,
  ...Array.from({ length: 2 * turns - 1 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: text(who, i),
  })),
];
const other = (message: Message): Message => ({ ...message, content: `${message.content} And more.` });

/** The messages of the next call of a conversation. `match`: what it is to it. */
const WAYS = {
  'goes on': { match: 'appended', next: (who: number) => said(who, TURNS + 1) },
  'is tried again': { match: 'repeated', next: (who: number) => said(who, TURNS) },
  forks: {
    match: 'forked',
    next: (who: number) =>
      said(who, TURNS).with(-1, { role: 'user', content: `${who} asks something else.` }),
  },
  'has another system message': {
    match: 'rewritten',
    next: (who: number) => said(who, TURNS + 1).with(0, other(SYSTEM)),
  },
  'keeps the last exchange': {
    match: 'rewritten',
    next: (who: number) => [SYSTEM, ...said(who, TURNS + 1).slice(-2)],
  },
  'begins a conversation': { match: 'started', next: (who: number) => said(who + 1_000_000, 1) },
} as const;

/** Calls that are placed before any is measured, and batches, of which the median counts. */
const [WARM_UP, BATCHES, IN_BATCH] = [200, 15, 20];

/**
 * Records conversations of one run, all with the same system message, and finds where more calls of them belong: by the rows, as nothing
 * of a conversation that `find` is asked for is remembered.
 */
export const placeCalls = async ({
  directory,
  conversations,
}: {
  readonly directory: string;
  readonly conversations: number;
}): Promise<PlacedCalls> => {
  const log = await openEmbeddedLog({ directory: join(directory, 'log') });
  const contents = await openDirectoryContents(join(directory, 'contents'));
  const store = openLmdbRowStore({ directory: join(directory, 'rows') });
  const projection = openProjector({ log, contents, store });
  const clock = (): bigint => BigInt(Date.now()) * 1_000_000n;
  const handler = openCommandHandler({ log, contents, rows: projection, clock, accepted: () => undefined });
  const starter = openCallStarter(projection);
  const home: RecordTarget = {
    position: (branch, ref = '') => projection.read((rows) => findServedPosition(rows, branch, ref)),
    view: (position) => viewOf(projection, position),
    submit: (command) => handler.submit(command),
    recordCall: (branch, call) => recordCall(home, projection, branch, call, starter),
    catchUp: () => projection.catchUp(),
  };
  const recorder = openRequestRecorder(home, projection, starter);
  const callOf = (id: string, messages: readonly Message[]) => ({
    ...{ id, by, messages, within: { run: 'bench' } },
    facts: {
      api: 'openai.chat',
      ...{ model: 'bench', parameters: {}, tools: null },
      request: Buffer.from(JSON.stringify({ model: 'bench', messages })),
    } as const,
  });
  for (let who = 0; who < conversations; who++)
    for (let turn = 1; turn <= TURNS; turn++) {
      const { facts, ...call } = callOf(`${who} ${turn}`, said(who, turn));
      const answer = { role: 'assistant', content: text(who, 2 * turn - 1) };
      const end = {
        ...{ httpStatus: 200, finishReason: 'stop', model: 'bench', usage: null },
        status: 'answered',
        ...{ firstByteMs: 3, durationMs: 12, error: null, answer, response: null },
      } as const;
      await recorder.record({ ...call, facts: { ...facts, end } });
    }
  await projection.catchUp();
  let count = 0;
  const cost = async ({ match, next }: (typeof WAYS)[PlacedAs]): Promise<number> => {
    const place = async (calls: number): Promise<number> => {
      const wanted = Array.from({ length: calls }, () => {
        const id = ++count;
        return callOf(`placed ${id}`, next((id * 7_919) % conversations));
      });
      const used = process.cpuUsage();
      for (const call of wanted) {
        const found = await recorder.find(call);
        if (found.match !== match) throw new Error(`${call.id} is ${found.match}, and not ${match}`);
      }
      const { user, system } = process.cpuUsage(used);
      return (user + system) / 1_000 / calls;
    };
    await place(WARM_UP);
    const batches: number[] = [];
    for (let batch = 0; batch < BATCHES; batch++) batches.push(await place(IN_BATCH));
    return median(batches);
  };
  const ways = Object.entries(WAYS);
  // Once without counting, as the engine compiles what all of them run.
  for (const [, way] of ways) await cost(way);
  const costs: [string, number][] = [];
  for (const [title, way] of ways) costs.push([title, await cost(way)]);
  await handler.close();
  await store.close();
  await contents.close();
  await log.close();
  return Object.fromEntries(costs) as PlacedCalls;
};
