import { serveHome, upstreamsOf } from '@stemma/gateway';
import { openHome } from '@stemma/home';
import { branchRefOf } from '@stemma/history-store';
import { DEFAULT_OPTIONS, openRerun } from '@stemma/rerun';
import { chooseRun, readRecording, serveRun } from '@stemma/reruns';
import { once } from 'node:events';
import { Agent, createServer, request as send, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { quantile } from '../measure.ts';

export type ServeInput = {
  readonly directory: string;
  /** Messages of the last call. */
  readonly messages: number;
  /** How often the whole conversation runs again; the first time is not measured. */
  readonly reruns: number;
};

/** Milliseconds of served calls, as their client sees them. */
export type ServedCallTimes = {
  readonly p50: number;
  readonly p99: number;
  /** Milliseconds of processor time to read a request, to find its call, and to have the answer: without HTTP and the client. */
  readonly processor: number;
  readonly calls: number;
};

/** `bound`: each call has a time and an id that are put back. */
export type Served = { readonly same: ServedCallTimes; readonly bound: ServedCallTimes };

type Message = { readonly role: string; readonly content: string };

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const post = async (
  url: string,
  body: object,
): Promise<{ readonly ms: number; readonly message: Message }> => {
  const text = JSON.stringify(body);
  const began = performance.now();
  const request = send(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } });
  request.end(text);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const ms = performance.now() - began;
  if (response.statusCode !== 200)
    throw new Error(`HTTP ${response.statusCode}: ${Buffer.concat(pieces).toString()}`);
  const { choices } = JSON.parse(Buffer.concat(pieces).toString()) as {
    readonly choices: readonly [{ readonly message: Message }];
  };
  return { ms, message: choices[0].message };
};

/** Milliseconds of processor time of this thread. */
const processorTime = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** One conversation, until its list has so many messages. @returns the milliseconds of each call */
const converse = async (url: string, messages: number, volatile: () => string): Promise<number[]> => {
  const system: Message = { role: 'system', content: `You run a harbour.${volatile()}` };
  const list: Message[] = [system, { role: 'user', content: 'How many ships are there?' }];
  const taken: number[] = [];
  while (list.length <= messages) {
    const { ms, message } = await post(`${url}/chat/completions`, { model: 'm', messages: list });
    taken.push(ms);
    list.push(message, { role: 'user', content: `And at pier ${list.length}? ${'Look again. '.repeat(20)}` });
  }
  return taken;
};

/** Calls whose lists are nearly as long as the last one's: the last tenth. */
const longest = (taken: readonly number[]): readonly number[] => taken.slice(-Math.ceil(taken.length / 10));

/** Records a conversation through the proxy, runs it again from the record, and measures the calls with the longest lists. */
export const serveRecorded = async ({ directory, messages, reruns }: ServeInput): Promise<Served> => {
  const model = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      const message = { role: 'assistant', content: `There are some. ${'They wait. '.repeat(20)}` };
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    });
  }).listen(0, '127.0.0.1');
  await once(model, 'listening');
  const upstreams = upstreamsOf({
    STEMMA_UPSTREAM_OPENAI: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
  });
  const ids = {
    same: () => '',
    bound: () => ` It is ${new Date().toISOString()}, request ${crypto.randomUUID()}.`,
  };
  const gateway = await serveHome({ home: { directory, create: true }, port: 0, upstreams });
  for (const [run, volatile] of Object.entries(ids))
    await converse(`${gateway.url}/proxy/run/${run}/openai`, messages, volatile);
  await gateway.drained(60_000);
  await gateway.close();
  model.closeAllConnections();
  model.close();

  const home = await openHome({ directory });
  const measure = async (name: keyof typeof ids): Promise<ServedCallTimes> => {
    const [history = ''] = await home.calls.historiesOfRun(name);
    const run = await readRecording(home, await chooseRun(home, branchRefOf(history, 0), null, name));
    const [wall, processor]: [number[], number[]] = [[], []];
    for (let round = 0; round <= reruns; round++) {
      const now = (): bigint => BigInt(Date.now()) * 1_000_000n;
      const rerun = openRerun(run.recording, DEFAULT_OPTIONS);
      const live = {
        ...{ by: { actor: '', notes: '' }, whatIf: null, settings: null, id: 'bench', now },
        placeOf: () => Promise.reject(new Error('a call of the benchmark is not the recorded one')),
      };
      const served = serveRun({ home, run, rerun, live, isLive: false, passesOthers: false, now });
      const own: number[] = [];
      const reply: typeof served.reply = async (call) => {
        const began = processorTime();
        const answer = await served.reply(call);
        own.push(processorTime() - began);
        return answer;
      };
      const server = await serveHome({
        home: { directory, create: false },
        port: 0,
        reruns: (id) => (id === 'rerun-bench' ? { ...served, reply } : undefined),
      });
      const each = await converse(`${server.url}/proxy/rerun/rerun-bench/openai`, messages, ids[name]);
      await server.close();
      if (round === 0) continue;
      wall.push(...longest(each));
      processor.push(...longest(own));
    }
    return {
      ...{ p50: quantile(wall, 0.5), p99: quantile(wall, 0.99) },
      ...{ processor: processor.reduce((sum, each) => sum + each, 0) / processor.length, calls: wall.length },
    };
  };
  const found = { same: await measure('same'), bound: await measure('bound') };
  await home.close();
  agent.destroy();
  return found;
};
