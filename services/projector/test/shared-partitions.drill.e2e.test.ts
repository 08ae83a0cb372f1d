import { historyId } from '@stemma/history';
import { openGroupProjector, openSharedDatabase } from '@stemma/home';
import { partitionOf } from '@stemma/log';
import { openKafkaLog } from '@stemma/log-kafka';
import { MAIN_GROUP } from '@stemma/projector';
import { findBroker, findPostgres, freshDatabase, programFile } from '@stemma/test-kit';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyOf, transcript } from './histories.ts';

const found = await findBroker();
const postgres = await findPostgres();
const PARTITIONS = 4;
const DEADLINE = { timeout: 120_000 };
/** Within this a projector that was killed is replaced. */
const REPLACED = { timeout: 3_000, interval: 20 };

/** A projector, and the partitions that it said it folds. */
const startProjector = (env: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [programFile('projector')], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data: Buffer) => (said += data.toString()));
  return {
    partitions: (): number[] =>
      (/.*partitions ([\d, ]+)\n/s.exec(said)?.[1] ?? '').split(', ').filter(Boolean).map(Number),
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
};

it('when of two projectors that share the partitions one is stopped, resumed or killed, the other takes over, and the rows are the same', async ({
  skip,
}) => {
  if ('skip' in found) return skip(found.skip);
  if ('skip' in postgres) return skip(postgres.skip);
  await using closing = new AsyncDisposableStack();
  const prefix = `shared-${randomUUID()}`;
  const home = mkdtempSync(join(tmpdir(), 'stemma-shared-'));
  closing.defer(() => rmSync(home, { recursive: true, force: true }));
  const fresh = await freshDatabase(postgres.url);
  closing.defer(() => fresh.drop());
  const log = await openKafkaLog({ brokers: found.brokers, prefix, partitions: PARTITIONS });
  closing.defer(() => log.close());
  const shared = await openSharedDatabase(fresh.url);
  closing.defer(() => shared.close());
  const rows = openGroupProjector(log, shared, MAIN_GROUP);
  const env = {
    STEMMA_LOG: `kafka://${found.brokers.join()}/${prefix}`,
    STEMMA_ROWS: fresh.url,
    STEMMA_HOME: home,
  };

  const frames = transcript(3, 2);
  let histories = 0;
  /** Writes histories into every partition. */
  const write = async (): Promise<void> => {
    const written = new Set<number>();
    for (; written.size < PARTITIONS; histories++) {
      const history = historyId(`shared-${histories}`, '');
      const partition = partitionOf(history, PARTITIONS);
      await log.append(partition, copyOf(frames, history));
      written.add(partition);
    }
  };
  /** Resolves when the projectors have folded what is in the log. */
  const folded = async (): Promise<void> => {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const end = await log.end(partition);
      await expect
        .poll(async () => (await rows.checkpoint(partition))?.cursor.offset ?? 0, DEADLINE)
        .toBeGreaterThanOrEqual(end);
    }
  };

  const [a, b] = [closing.use(startProjector(env)), closing.use(startProjector(env))];
  const share = () => [a.partitions().length, b.partitions().length];
  await expect.poll(share, DEADLINE).toEqual([2, 2]);
  expect([...a.partitions(), ...b.partitions()].sort((x, y) => x - y)).toEqual([0, 1, 2, 3]);
  await write();
  await folded();

  // Stopped in the middle. No connection ends: the database ends the session of who is silent for too long.
  await write();
  a.signal('SIGSTOP');
  await expect.poll(() => b.partitions(), DEADLINE).toEqual([0, 1, 2, 3]);
  await folded();
  // What it had begun is refused when it wakes up, for the cursor has moved.
  a.signal('SIGCONT');
  await expect.poll(share, DEADLINE).toEqual([2, 2]);
  await write();
  a.signal('SIGKILL');
  await expect.poll(() => b.partitions(), REPLACED).toEqual([0, 1, 2, 3]);
  await folded();

  const replayed = execFileSync(process.execPath, [programFile('stemma'), 'replay', '--verify', '--json'], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  expect(JSON.parse(replayed)).toMatchObject({ differences: 0 });
});
