import { addressOf, ENDPOINTS, toWireJson, type EndpointName } from '@stemma/api';
import { createGateway } from '@stemma/gateway';
import { openHome } from '@stemma/home';
import { measureCpu, type CpuTimes } from '../audit/cpu.ts';
import { namesToMeasure, printBest, type Growth } from './asked.ts';
import { ENDPOINTS_ASKED, type Input } from './endpoints.ts';

export type AskInput = {
  readonly directory: string;
  readonly calls: number;
  /** How often what is measured is repeated. */
  readonly rounds: Readonly<Record<Growth, number>>;
  /** Some endpoints or commands, with commas between them; all, unless said. */
  readonly only?: string | undefined;
};

/** The best of several rounds, warm: other programs may have the machine for a moment. */
export type Best = CpuTimes & {
  /** The first time that it was asked. */
  readonly first: number;
  /** Of the answer. */
  readonly bytes: number;
};

/** Asks a gateway over a home, in this process, every endpoint that is measured. */
export const askEndpoints = async ({
  directory,
  calls,
  rounds,
  only,
}: AskInput): Promise<Readonly<Record<string, Best>>> => {
  const home = await openHome({ directory });
  const gateway = createGateway({ home, hosts: () => true });
  const send = async (name: EndpointName, input: Input): Promise<number> => {
    const endpoint = ENDPOINTS[name];
    const answer = await gateway.request(addressOf(endpoint, input), {
      method: endpoint.method,
      headers: { 'content-type': 'application/json' },
      ...('body' in endpoint ? { body: toWireJson(input['body']) } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${name} answers ${answer.status}: ${text.slice(0, 400)}`);
    return text.length;
  };
  const measured: Record<string, Best> = {};
  for (const [name, asked] of namesToMeasure(ENDPOINTS_ASKED, only)) {
    const ask = () => measureCpu(() => send(name as EndpointName, asked.ask(calls)));
    const first = await ask();
    let best: CpuTimes = { wall: Infinity, cpu: Infinity };
    for (let round = 0; round < rounds[asked.growth]; round++) {
      const { spent } = await ask();
      best = { wall: Math.min(best.wall, spent.wall), cpu: Math.min(best.cpu, spent.cpu) };
    }
    measured[name] = { ...best, first: first.spent.wall, bytes: first.value };
    printBest('endpoint', name, calls, best);
  }
  await home.close();
  return measured;
};
