import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isStemmaError } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { partitionOf, type EventLog } from '@stemma/log';
import { openKafkaLog } from '@stemma/log-kafka';
import { findBroker, findPostgres, freshDatabase, sendGarbage } from '@stemma/test-kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../run-stemma.ts';
import { insistently, startTwoGateways, stemma, type Gateway } from './gateways.ts';
import { openProcesses, until, type Place } from './processes.ts';

const found = await findBroker();
const brokers = 'skip' in found ? [] : found.brokers;
const postgres = await findPostgres();
const server = 'skip' in postgres ? '' : postgres.url;

/** Names of histories whose partition of two is this one. */
const namesIn = (partition: number): readonly string[] =>
  Array.from({ length: 50 }, (_, i) => `h${i}`).filter(
    (name) => partitionOf(historyId(name, ''), 2) === partition,
  );

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isStemmaError(error) ? error.code : error),
  );

const start = ({ client }: Gateway, name: string): Promise<unknown> =>
  client.start({ body: { id: `start ${name}`, recorder: 'test', name } });
/** Sent again where nobody knows what became of it: a frame on its way when damage is met is one. */
const say = ({ client }: Gateway, history: string, id: string) =>
  insistently('a write', () =>
    client.command({
      history,
      body: {
        id,
        recorder: 'test',
        steps: [
          {
            op: 'insert',
            parent: '^ah',
            node: { id, nodeType: 'cb', role: 'user', kind: 'text', content: id },
          },
        ],
      },
    }),
  );

/** Appends a record that is not what anybody sent. */
const spoil = (log: EventLog, partition: number, key: string): Promise<unknown> =>
  log.append(partition, [{ key, bytes: Uint8Array.of(1, 2, 3) }]);

describe('two gateways on one log', () => {
  beforeEach(({ skip }) => {
    if ('skip' in found) skip(found.skip);
    if ('skip' in postgres) skip(postgres.skip);
  });

  it(
    'see each other’s writes at the next read, and the same damage: it closes its history, or, if the history is unknown, the partition until it is acknowledged',
    { tags: ['record§2:damaged', 'record§2:unknown-key', 'record§3:outcome'], timeout: 900_000 },
    async () => {
      using folder = temporaryFolder();
      const prefix = `two-${randomUUID()}`;
      const database = await freshDatabase(server);
      const place: Place = {
        log: `kafka://${brokers.join(',')}/${prefix}`,
        rows: database.url,
        home: join(folder.path, 'home'),
      };
      const log = await openKafkaLog({ brokers, prefix, partitions: 2 });
      try {
        await using processes = openProcesses();
        const gateways = await startTwoGateways(processes, place);
        const [a, b] = gateways;
        const [hurt = '', whole = ''] = namesIn(0);
        const [other = ''] = namesIn(1);
        for (const name of [hurt, whole, other])
          await insistently('a history to begin', () => start(a, name));

        for (let i = 0; i < 20; i++) {
          const [writes, reads] = i % 2 === 0 ? [a, b] : [b, a];
          const { position } = await say(writes, whole, `n${i}`);
          const { frames } = await insistently('a read', () => reads.client.history({ history: whole }));
          expect([position.seq, frames]).toEqual([i + 1, i + 2]);
          // Questions that take long are answered by processes of their own: they see as much.
          const asked = { history: whole, selector: `#n${i}` };
          expect((await insistently('a question', () => reads.client.select(asked))).ids).toEqual([`n${i}`]);
        }

        await spoil(log, 0, historyId(hurt, ''));
        for (const gateway of gateways) {
          await until('the damage to be seen', async () => {
            const { state, stopped } = await gateway.client.history({ history: hurt });
            return state === 'damaged' && stopped === 1;
          });
          expect(await codeOf(say(gateway, hurt, 'more'))).toBe('E_HISTORY_DAMAGED');
          expect(await codeOf(gateway.client.tree({ history: hurt, at: '@s5' }))).toBe('E_HISTORY_DAMAGED');
          expect(await codeOf(say(gateway, whole, `behind ${gateway.name}`))).toBe('no error');
        }

        await sendGarbage(brokers, log.facts.topic, 0);
        for (const gateway of gateways) {
          expect(await codeOf(say(gateway, whole, 'closed'))).toBe('E_PARTITION_CLOSED');
          expect(await codeOf(say(gateway, other, `open ${gateway.name}`))).toBe('no error');
        }
        const verified = await stemma(processes, place, ['verify', '--json']);
        expect(verified.code).toBe(5);
        const problems = (JSON.parse(verified.said) as { problems: { kind: string; offset: number }[] })
          .problems;
        const unknown = problems.find(({ kind }) => kind === 'unknown');
        expect((await stemma(processes, place, ['ack', `0@${unknown?.offset ?? -1}`, '--yes'])).code).toBe(0);
        for (const gateway of gateways)
          expect(await codeOf(say(gateway, whole, `after ${gateway.name}`))).toBe('no error');
      } finally {
        await log.close();
        await database.drop();
      }
    },
  );
});
