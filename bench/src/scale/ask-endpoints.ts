import { addressOf, ENDPOINTS, toWireJson, type EndpointName } from '@stemma/api';
import { createGateway } from '@stemma/gateway';
import { openHome } from '@stemma/home';
import { measureCpu, type CpuTimes } from '../audit/cpu.ts';
import { isMeasured } from './asked.ts';
import { ENDPOINTS_ASKED, type Input } from './endpoints.ts';

export type AskInput = {
  readonly directory: string;
  readonly calls: number;
  readonly rounds: number;
  /** One endpoint or command; all, unless said. */
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
  for (const [name, asked] of Object.entries(ENDPOINTS_ASKED) as [
    EndpointName,
    (typeof ENDPOINTS_ASKED)['tree'],
  ][]) {
    if (!isMeasured(asked) || (only !== undefined && only !== name)) continue;
    const first = await measureCpu(() => send(name, asked.ask(calls)));
    let best = first.spent;
    for (let round = 0; round < rounds; round++) {
      const { spent } = await measureCpu(() => send(name, asked.ask(calls)));
      best = { wall: Math.min(best.wall, spent.wall), cpu: Math.min(best.cpu, spent.cpu) };
    }
    measured[name] = { ...best, first: first.spent.wall, bytes: first.value };
  }
  await home.close();
  return measured;
};
