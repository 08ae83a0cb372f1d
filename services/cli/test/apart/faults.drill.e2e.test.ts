import { isStemmaError } from '@stemma/errors';
import { openKafkaLog } from '@stemma/log-kafka';
import {
  brokerLibs,
  checkOperations,
  countAnomalies,
  findPostgres,
  missingTools,
  NO_ANOMALIES,
  startBroker,
  startPostgres,
  type Operation,
  sized,
} from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../run-stemma.ts';
import { clientOf, insistently, startGateway, stemma, valuesOf, type Gateway } from './gateways.ts';
import { openProcesses, startProjector, until, type Place } from './processes.ts';

const why = missingTools();
const postgres = await findPostgres();
const reason = why ?? ('skip' in postgres ? postgres.skip : undefined);
const HISTORIES = ['left', 'right'];
/** So many commands of a client are acknowledged between one fault and the next. */
const BETWEEN = sized(1, 3);

describe('a system under faults', () => {
  it(
    'records every acknowledged command once and in its place, whatever process is killed or stopped, and all readers agree',
    { tags: ['record§3:outcome', 'record§2:stale'], timeout: 1_200_000 },
    async ({ skip }) => {
      if (reason !== undefined) return skip(reason);
      const directory = mkdtempSync(join(tmpdir(), 'stemma-system-'));
      using folder = temporaryFolder();
      const broker = await startBroker({ libs: await brokerLibs(), directory });
      const database = await startPostgres();
      try {
        await using processes = openProcesses();
        const prefix = `system-${randomUUID()}`;
        const brokers = [broker.address];
        await (await openKafkaLog({ brokers, prefix, partitions: 2 })).close();
        const place: Place = {
          log: `kafka://${broker.address}/${prefix}`,
          rows: database.url,
          home: join(folder.path, 'home'),
        };
        const projectors = Array.from({ length: 3 }, () => startProjector(processes, place));
        const gateways: Gateway[] = [];
        for (const name of ['a', 'b']) gateways.push(await startGateway(processes, place, name));
        const at = (i: number): Gateway => gateways[i % 2] as Gateway;
        const operations: Operation[] = [];
        for (const name of HISTORIES) {
          const value = `start ${name}`;
          const { position } = await insistently('a history to begin', () =>
            at(0).client.start({ body: { id: value, recorder: 'test', name } }),
          );
          operations.push({
            kind: 'write',
            process: 'test',
            history: name,
            value,
            outcome: 'ok',
            seq: position.seq,
          });
        }
        let acknowledged = 0;
        let sentAgain = 0;
        let going = true;
        const write = async (who: string, i: number, history: string): Promise<void> => {
          const value = `${who}-${i}`;
          const body = {
            id: value,
            actor: who,
            steps: [{ op: 'inject' as const, text: value, id: value }],
          };
          for (let tries = Number(who.at(-1)); ; tries++)
            try {
              const { position } = await clientOf(() => at(tries).url, 15_000).command({ history, body });
              const { seq } = position;
              operations.push({ kind: 'write', process: who, history, value, outcome: 'ok', seq });
              acknowledged++;
              return;
            } catch (error) {
              if (!isStemmaError(error) || !(error.row.retriable || error.code === 'E_IO')) throw error;
              sentAgain++;
              await sleep(20);
            }
        };
        const clients = ['client-0', 'client-1', 'client-2'].map(async (who, c) => {
          for (let i = 0; going; i++) await write(who, i, HISTORIES[(i + c) % 2] ?? '');
        });
        const crashed = Promise.all(clients).then(() => undefined);
        const progress = async (): Promise<void> => {
          const enough = acknowledged + BETWEEN * clients.length;
          await Promise.race([crashed, until('clients to get on', () => acknowledged >= enough)]);
        };
        await progress();
        // The others take over; the last one of them is started anew.
        for (const projector of projectors) {
          await projector.end('SIGKILL');
          if (projector === projectors.at(-1)) startProjector(processes, place);
          await progress();
        }
        await at(0).end('SIGKILL');
        await progress();
        gateways[0] = await startGateway(processes, place, 'a again');
        at(1).signal('SIGSTOP');
        await progress();
        at(1).signal('SIGCONT');
        await progress();
        await broker.stop('SIGKILL');
        await broker.start();
        await progress();
        await database.stop('SIGKILL');
        await database.start();
        await progress();
        going = false;
        await crashed;

        const log = await openKafkaLog({ brokers, prefix, create: false });
        const stale: Record<string, number> = {};
        for (const [i, gateway] of gateways.entries()) {
          for (const history of HISTORIES)
            operations.push({
              kind: 'poll',
              process: `gateway ${i}`,
              history,
              from: 0,
              values: await insistently('a history to be read', () => valuesOf(gateway, history)),
            });
          const { partitions } = await insistently('a doctor', () => gateway.client.doctor({}));
          for (const each of i === 0 ? partitions : [])
            for (const [reason, count] of Object.entries(each.stale))
              stale[reason] = (stale[reason] ?? 0) + count;
        }
        await log.close();
        const wrong = countAnomalies(checkOperations(operations));
        console.info({ acknowledged, sentAgain, stale, ...wrong });
        expect(wrong).toEqual(NO_ANOMALIES);
        const replayed = await stemma(processes, place, ['replay', '--verify', '--json']);
        expect(replayed.said).toContain('"differences":0');
        expect(replayed.code).toBe(0);
      } finally {
        await broker.stop('SIGKILL');
        await database.remove();
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );
});
