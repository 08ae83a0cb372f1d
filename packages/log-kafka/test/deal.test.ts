import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findBroker, missingTools } from '@stemma/test-kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { dealPartitions, openKafkaLog } from '../src/index.ts';
import { newPrefix, ownBrokers, until } from './fault-kit.ts';

const found = await findBroker();
const shared = 'skip' in found ? [] : found.brokers;
const ALL = [0, 1, 2, 3, 4, 5];

/** One who takes a part, and the parts that were given and taken away, the last one last. */
const dealer = (brokers: readonly string[], prefix: string) => {
  const leaving = new AbortController();
  const parts: (readonly number[])[] = [[]];
  const dealing = dealPartitions({
    brokers,
    prefix,
    group: `${prefix}-readers`,
    signal: leaving.signal,
    assigned: (partitions) => void parts.push(partitions),
  });
  return {
    parts,
    has: (): readonly number[] => parts.at(-1) ?? [],
    leave: async (): Promise<void> => {
      leaving.abort();
      await dealing;
    },
  };
};

type Dealer = { readonly has: () => readonly number[] };

/** True when every partition is somebody's, nobody has one that another has, and none has more than his share. */
const isDealt = (among: readonly Dealer[]): boolean => {
  const parts = among.map(({ has }) => has());
  const most = Math.ceil(ALL.length / among.length);
  return (
    parts.every(({ length }) => length <= most) &&
    parts
      .flat()
      .sort((a, b) => a - b)
      .join() === ALL.join()
  );
};

const makeLog = async (brokers: readonly string[]): Promise<string> => {
  const prefix = newPrefix();
  await (await openKafkaLog({ brokers, prefix, partitions: ALL.length })).close();
  return prefix;
};

describe('partitions are dealt out', () => {
  beforeEach(({ skip }) => {
    if ('skip' in found) skip(found.skip);
  });

  it('to one, two and three, each its share, and who leaves has none while the others have all', async () => {
    const prefix = await makeLog(shared);
    const a = dealer(shared, prefix);
    await until('all to be dealt to one', () => isDealt([a]), 60);
    const b = dealer(shared, prefix);
    await until('all to be dealt to two', () => isDealt([a, b]), 60);
    // What changes hands is taken away before it is dealt again.
    expect(a.parts.every((part, i) => part.length === 0 || a.parts[i - 1]?.length === 0)).toBe(true);
    const c = dealer(shared, prefix);
    await until('all to be dealt to three', () => isDealt([a, b, c]), 60);
    await b.leave();
    expect(b.has()).toEqual([]);
    await until('all to be dealt to those who stayed', () => isDealt([a, c]), 60);
    await Promise.all([a.leave(), c.leave()]);
  }, 240_000);

  it('anew when one of two processes is killed', async () => {
    const prefix = await makeLog(shared);
    const script = join(import.meta.dirname, 'children/deal.ts');
    const child = spawn(process.execPath, [script, shared.join(), prefix, `${prefix}-readers`]);
    let said = '';
    child.stdout.on('data', (data: Buffer) => (said += data.toString()));
    const other: Dealer = {
      has: () => (said.split('\n').at(-2) ?? '').split(' ').filter(Boolean).map(Number),
    };
    const mine = dealer(shared, prefix);
    try {
      await until('all to be dealt to two', () => isDealt([mine, other]), 60);
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
      await until('all to be dealt to the one that lives', () => isDealt([mine]), 60);
    } finally {
      child.kill('SIGKILL');
      await mine.leave();
    }
  }, 240_000);

  it('to nobody while the broker is away, and again when it is back', async ({ skip }) => {
    const missing = missingTools();
    if (missing !== undefined) skip(missing);
    await using own = await ownBrokers(1);
    const prefix = await makeLog(own.addresses);
    const dealers = [dealer(own.addresses, prefix), dealer(own.addresses, prefix)];
    await until('all to be dealt to two', () => isDealt(dealers), 60);
    await own.brokers[0]?.stop('SIGKILL');
    await until('nobody to have a part', () => dealers.every(({ has }) => has().length === 0), 60);
    await own.brokers[0]?.start();
    await until('all to be dealt again', () => isDealt(dealers), 120);
    await Promise.all(dealers.map(({ leave }) => leave()));
  }, 300_000);

  it('to nobody after the signal, whatever was under way', async () => {
    const prefix = await makeLog(shared);
    const [a, b] = [dealer(shared, prefix), dealer(shared, prefix)];
    await Promise.all([a.leave(), b.leave()]);
    expect([a.has(), b.has()]).toEqual([[], []]);
  });
});
