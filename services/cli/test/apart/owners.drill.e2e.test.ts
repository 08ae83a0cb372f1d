import { isStemmaError } from '@stemma/errors';
import { findBroker, findPostgres, freshDatabase, sized } from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../run-stemma.ts';
import { insistently, startTwoGateways, type Gateway } from './gateways.ts';
import { openProcesses, until, type Place } from './processes.ts';

const found = await findBroker();
const postgres = await findPostgres();

beforeEach(({ skip }) => {
  if ('skip' in found) skip(found.skip);
  if ('skip' in postgres) skip(postgres.skip);
});

const HISTORIES = ['h0', 'h1', 'h2', 'h3'];
const CLIENTS = 16;
/** Of each client; one gateway is killed when half of all are acknowledged. */
const COMMANDS = sized(10, 30);

const forwarded = async ({ url }: Gateway): Promise<number> => {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^stemma_http_forwarded_total\{outcome="answered"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
};

test(
  'clients of two gateways write to the same histories: none is refused for the other, nothing is lost or doubled, also when one gateway is killed',
  { tags: ['record§3:commands-remembered', 'decision-0072'] },
  async () => {
    using folder = temporaryFolder();
    const database = await freshDatabase('skip' in postgres ? '' : postgres.url);
    const brokers = 'skip' in found ? [] : found.brokers;
    const place: Place = {
      log: `kafka://${brokers.join(',')}/owners-${randomUUID()}?partitions=2`,
      rows: database.url,
      home: join(folder.path, 'home'),
    };
    try {
      await using processes = openProcesses();
      const [a, b] = await startTwoGateways(processes, place);
      for (const name of HISTORIES)
        await insistently('a history to begin', () =>
          a.client.start({ body: { id: `start ${name}`, recorder: 'test', name } }),
        );
      const say = ({ client }: Gateway, history: string, id: string) =>
        client.command({
          history,
          body: {
            id,
            recorder: 'test',
            steps: [{ op: 'insert', parent: '^ah', node: { id, nodeType: 'cb', content: id } }],
          },
        });
      // Each history is sent to both, so one of the two sends it on as soon as it has heard of the other.
      await until('commands to be forwarded', async () => {
        for (const history of HISTORIES) {
          await say(a, history, `first ${randomUUID()}`);
          await say(b, history, `first ${randomUUID()}`);
        }
        return (await forwarded(a)) + (await forwarded(b)) > 0;
      });

      const said = new Map<string, Set<string>>(HISTORIES.map((name) => [name, new Set()]));
      let written = 0;
      let killed = false;
      const refusals: unknown[] = [];
      await Promise.all(
        Array.from({ length: CLIENTS }, async (_, client) => {
          for (let n = 0; n < COMMANDS; n++) {
            const history = HISTORIES[(client + n) % HISTORIES.length] ?? '';
            const id = `c${client}.${n}`;
            await until(`${id} to be acknowledged`, async () => {
              const gateway = killed || client % 2 === 0 ? a : b;
              try {
                await say(gateway, history, id);
              } catch (error) {
                if (isStemmaError(error, 'E_CONFLICT')) refusals.push(error);
                throw error;
              }
              return true;
            });
            said.get(history)?.add(id);
            if (++written === (CLIENTS * COMMANDS) / 2) {
              killed = true;
              await b.end('SIGKILL');
            }
          }
        }),
      );
      expect(refusals).toEqual([]);
      for (const [history, ids] of said) {
        const { ids: there } = await insistently('a selection', () =>
          a.client.select({ history, selector: '^ah .cb', limit: 10_000 }),
        );
        const mine = there.filter((id) => id.startsWith('c'));
        expect(new Set(mine)).toEqual(ids);
        expect(mine).toHaveLength(ids.size);
      }
    } finally {
      await database.drop();
    }
  },
);
