import { createClient, type ApiClient, type CommandAnswer, type StepRequest } from '@stemma/api';
import { openHome, type Home } from '@stemma/home';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '../src/index.ts';

/** The clock of the first command; each one is a second later. */
export const START = 1_767_603_600_000_000_000n;

export const block = (
  id: string,
  content: string,
  role = 'user',
  more: Record<string, unknown> = {},
): StepRequest => ({
  op: 'insert',
  parent: role === 'system' ? '^sys' : '^ah',
  node: { id, nodeType: 'cb', role, kind: 'text', content, ...more },
});
export const commit = (cycle: number): StepRequest => ({ op: 'commit', turn_id: `t${cycle}` });

export type Airline = {
  readonly home: Home;
  readonly app: ReturnType<typeof createGateway>;
  readonly client: ApiClient;
  record(id: string, ...steps: StepRequest[]): Promise<CommandAnswer>;
  close(): Promise<void>;
};

/** A gateway before a home of its own, in which two histories were recorded: `airline`, and `other`, which is empty. Closing it removes the home, unless it is kept. */
export const openAirline = async ({ keep = false } = {}): Promise<Airline> => {
  const directory = await mkdtemp(join(tmpdir(), 'stemma-gateway-'));
  let clock = START;
  const home = await openHome({ directory, create: true, clock: () => (clock += 1_000_000_000n) });
  const app = createGateway({ home });
  const client = createClient(async (url, options) => app.request(url, options), '');
  const record = (id: string, ...steps: StepRequest[]): Promise<CommandAnswer> =>
    client.command({ history: 'airline', body: { id, recorder: 'agent', steps } });
  await client.start({ body: { id: 'start-airline', recorder: 'agent', name: 'airline' } });
  await record(
    'one',
    block('policy', 'Be kind.', 'system'),
    block('ask', '  I want to fly\n to Oslo '),
    block('found', 'a document', 'tool', {
      kind: 'result',
      ttl: 1,
      data_url: 'https://example.org',
      provenance: { by: 'search' },
    }),
    commit(1),
  );
  await record('two', block('answer', 'Gladly.', 'assistant'), block('more', 'On Monday.'), commit(2));
  await record('three', block('done', 'Booked.', 'assistant'), commit(3), { op: 'name', name: 'booked' });
  await record('four', block('thanks', 'Thanks!'));
  await client.start({ body: { id: 'start-other', recorder: 'agent', name: 'other' } });
  return {
    home,
    app,
    client,
    record,
    close: async () => {
      await home.close();
      if (!keep) await rm(directory, { recursive: true, force: true });
    },
  };
};
