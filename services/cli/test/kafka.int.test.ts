import { compareCodePoints } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { openKafkaLog } from '@stemma/log-kafka';
import { findBroker, sized } from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { runStemma, temporaryFolder } from './run-stemma.ts';
import { FILES, SYSTEMS, expectHashes, frameHashes, importIn, rowHashes } from './same-everywhere.ts';

const found = await findBroker();
const brokers = 'skip' in found ? [] : found.brokers;
const newPrefix = (): string => `cli-${randomUUID()}`;

describe('a home on Kafka', () => {
  beforeEach(({ skip }) => {
    if ('skip' in found) skip(found.skip);
  });
  it(
    'records the same frames and rows as one on the embedded log, with 1 and 6 partitions, by 1 and 3 processes at once',
    { tags: ['long', 'record§4:frame-limit', 'record§5:partition'], timeout: 600_000 },
    async () => {
      using folder = temporaryFolder();
      const embedded = join(folder.path, 'embedded');
      await importIn([embedded], '', FILES);
      const log = await openEmbeddedLog({ directory: join(embedded, 'log') });
      const frames = await frameHashes(log);
      const rows = await rowHashes(embedded, log, 'rows');
      await log.close();
      expect(Object.keys(frames).length).toBe(FILES.length);

      for (const [partitions, processes] of SYSTEMS.slice(0, sized(1, 4))) {
        const prefix = newPrefix();
        const homes = Array.from({ length: processes }, (_, i) => join(folder.path, `${prefix}-${i}`));
        await (await openKafkaLog({ brokers, prefix, partitions })).close();
        await importIn(homes, `kafka://${brokers.join(',')}/${prefix}`, FILES);
        const kafka = await openKafkaLog({ brokers, prefix, create: false });
        expectHashes(await frameHashes(kafka), frames);
        for (const home of homes) expectHashes(await rowHashes(home, kafka, 'rows-kafka'), rows);
        await kafka.close();
      }
    },
  );

  it(
    'is copied from the embedded log and back without a changed byte; an interrupted copy is continued, and a copy of another log is refused',
    { tags: ['long', 'record§5:copy'], timeout: 600_000 },
    async () => {
      using folder = temporaryFolder();
      const [home, back, other] = ['home', 'back', 'other'].map((name) => join(folder.path, name)) as [
        string,
        string,
        string,
      ];
      const log = `kafka://${brokers.join(',')}/${newPrefix()}?partitions=3`;
      const copy = (from: string, to: string): ReturnType<typeof runStemma> =>
        runStemma(['copy', '--from', from, '--to', to, '--home', other, '--json']);
      const [first = '', ...rest] = FILES;
      await importIn([home], '', [first]);
      expect(await copy(home, log)).toMatchObject({ code: 0 });
      await importIn([home], '', rest);
      const resumed = await copy(home, log);
      expect(JSON.parse(resumed.stdout)).toMatchObject({ histories: FILES.length });
      expect((JSON.parse(resumed.stdout) as { before: number }).before).toBeGreaterThan(0);
      // The home with its contents would have two logs of the same histories.
      expect(await copy(log, other)).toMatchObject({ code: 64 });
      expect(existsSync(join(other, 'log'))).toBe(false);
      expect(await copy(log, back)).toMatchObject({ code: 0 });
      expect(await framesIn(back)).toEqual(await framesIn(home));

      const [one, two] = [join(folder.path, 'one'), join(folder.path, 'two')];
      await importIn([one], '', [first]);
      await importIn([two], '', rest.slice(0, 1));
      const before = await framesIn(two);
      const refused = await copy(one, two);
      expect(refused.code).toBe(3);
      expect(refused.stderr).toContain('E_LOG_NOT_EMPTY');
      expect(await framesIn(two)).toEqual(before);
    },
  );

  it(
    'works with the same commands as any home, and `doctor` examines it',
    { tags: ['long'], timeout: 600_000 },
    async () => {
      using folder = temporaryFolder();
      const env = {
        STEMMA_LOG: `kafka://${brokers.join(',')}/${newPrefix()}`,
        STEMMA_HOME: join(folder.path, 'home'),
      };
      const run = (...args: string[]): ReturnType<typeof runStemma> => runStemma(args, { env });
      expect(await run('stats')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('E_HOME_NOT_FOUND') as string,
      });
      expect(await run('import', FILES.at(-2) ?? '', '--history', 'tram')).toMatchObject({ code: 0 });
      const snapshots = await run('snapshots', 'tram', '--json');
      expect(snapshots.code).toBe(0);
      expect(await run('insert', 'tram', '--role', 'user', '--content', 'one more')).toMatchObject({
        code: 0,
      });
      expect((await run('thread', 'tram')).stdout).toContain('one more');
      expect(await run('verify')).toMatchObject({ code: 0 });
      expect(await run('replay', '--verify', '--batches', '1,7')).toMatchObject({ code: 0 });
      expect(await run('replay')).toMatchObject({ code: 0 });
      const examined = await run('doctor', '--json');
      expect(examined.code).toBe(0);
      expect(JSON.parse(examined.stdout)).toMatchObject({
        topic: {
          settings: { 'retention.ms': '-1', 'retention.bytes': '-1', 'cleanup.policy': 'delete' },
          faults: [],
        },
        histories: 1,
        stopped: [],
      });
    },
  );

  it(
    'accepts concurrent injections of two people in two homes, and answers the late one with a conflict',
    { tags: ['pool:Interventions', 'record§3:outcome'], timeout: 600_000 },
    async () => {
      using folder = temporaryFolder();
      const log = `kafka://${brokers.join(',')}/${newPrefix()}`;
      const open = (name: string): Promise<Home> =>
        openHome({ directory: join(folder.path, name), create: true, log });
      const [a, b] = await Promise.all([open('a'), open('b')]);
      const history = historyId('desk', '');
      const by = { recorder: 'test' };
      await a.submit({ id: 's', history, branchId: 0, by, steps: [{ op: 'start', name: 'desk' }] });
      const inject = (home: Home, id: string, expected?: number): Promise<string> =>
        home
          .submit({
            id,
            history,
            branchId: 0,
            by: { actor: id },
            ...(expected === undefined ? {} : { expected }),
            steps: [{ op: 'inject', text: `of ${id}` }],
          })
          .then(
            ({ seq }) => `@s${seq}`,
            (error: unknown) => (isStemmaError(error) ? error.code : 'not a coded error'),
          );
      const both = await Promise.all([inject(a, 'one'), inject(b, 'two')]);
      expect(both.toSorted(compareCodePoints)).toEqual(['@s1', '@s2']);
      const late = await Promise.all([inject(a, 'three', 2), inject(b, 'four', 2)]);
      expect(late.toSorted(compareCodePoints)).toEqual(['@s3', 'E_CONFLICT']);
      for (const home of [a, b]) {
        const branchRef = await home.find('desk');
        const told = await home.queries.audit.interventions(branchRef);
        expect(told.interventions.map(({ seq }) => seq)).toEqual([1, 2, 3]);
        expect(await home.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
        await home.close();
      }
    },
  );
});

test('an address that names no log is refused before anything is created', async () => {
  using folder = temporaryFolder();
  const env = { STEMMA_LOG: 'kafka:/nowhere', STEMMA_HOME: join(folder.path, 'home') };
  expect(await runStemma(['import', FILES.at(-1) ?? ''], { env })).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('kafka://HOST:PORT') as string,
  });
});

const framesIn = async (home: string): Promise<Readonly<Record<string, string>>> => {
  const log = await openEmbeddedLog({ directory: join(home, 'log') });
  const hashes = await frameHashes(log);
  await log.close();
  return hashes;
};
