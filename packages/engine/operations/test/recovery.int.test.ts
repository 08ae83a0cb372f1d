import { isStemmaError } from '@stemma/errors';
import { historyId, type Command } from '@stemma/history';
import { findCommand } from '@stemma/history-store';
import { openMemoryLog, type EventLog, type LogRecord, type MemoryLog } from '@stemma/log';
import { seeded } from '@stemma/log/contract';
import { acknowledge, diagnose, replayRows, verifyHome } from '@stemma/operations';
import { followFrom, followLog } from '@stemma/queries';
import { sized } from '@stemma/test-kit';
import { memoryServices, type MemoryServices } from '@stemma/test-kit/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/*
 * Everything happens in memory, so an endless loop would never let a timer run: the deadline is the number of reads that a
 * work may take.
 */
const DEADLINE_READS = 3_000;

type Budget = { left: number };

const withDeadline = (log: EventLog, budget: Budget): EventLog => ({
  ...log,
  read: (...given) => {
    if (--budget.left < 0) throw new Error('it does not end');
    return log.read(...given);
  },
});

const MOST_RECORDS = 110;

const NAMES = ['a', 'b', 'c'] as const;

const command = (name: string, id: string, steps: Command['steps']): Command => ({
  id,
  history: historyId(name, ''),
  branchId: 0,
  by: { recorder: 'test' },
  steps,
});

const say = (name: string, word: string): Command =>
  command(name, `say:${name}:${word}`, [
    { op: 'insert', parent: '^ah', node: { nodeType: 'cb', role: 'user', content: word } },
    { op: 'commit' },
  ]);

const recordedLog = async (records: number, directory: string): Promise<MemoryLog> => {
  const log = await openMemoryLog();
  const { handler, projector } = memoryServices(log, directory);
  for (const name of NAMES) await handler.submit(command(name, `start:${name}`, [{ op: 'start', name }]));
  for (let i = NAMES.length; i < records; i++)
    await handler.submit(say(NAMES[i % NAMES.length] as string, `word ${i}`));
  await projector.catchUp();
  await handler.close();
  return log;
};

/** What can become of a record: all that the check tells apart (record §2), and the end of the log. */
const DAMAGES: Readonly<Record<string, (record: LogRecord) => LogRecord | null>> = {
  'a vouched key': (record) => flipped(record),
  'a known key': (record) => ({ ...flipped(record), keyVouched: false }),
  'an unknown key': (record) => ({ ...flipped(record), key: 'nobody', keyVouched: false }),
  'no key': (record) => ({ ...flipped(record), key: null, keyVouched: false }),
  'another key': (record) => ({ ...record, key: historyId('b', ''), keyVouched: true }),
  'a lost end': () => null,
};

const flipped = (record: LogRecord): LogRecord => {
  const bytes = record.bytes.slice();
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 4;
  return { ...record, bytes };
};

const damage = (log: MemoryLog, at: number, kind: string): void => {
  const records = log.records(0);
  const record = records[at];
  const altered = record && DAMAGES[kind]?.(record);
  if (altered) records[at] = altered;
  else if (at > 0) records.length = Math.min(records.length, at);
};

type Work = (services: MemoryServices) => Promise<unknown>;

const WORKS: Readonly<Record<string, Work>> = {
  'a write': ({ handler }) => handler.submit(say('a', 'behind')),
  doctor: diagnose,
  'catch-up': ({ projector }) => projector.catchUp(),
  rebuild: ({ projector }) => projector.rebuild(),
  verify: (services) => verifyHome(services),
  'replay --verify': (services) => replayRows(services, { verify: true }),
  replay: (services) => replayRows(services, { verify: false }),
};

/** `null` if a work ends well or with a code. */
const endsOf = async (services: MemoryServices, budget: Budget, name: string): Promise<string | null> => {
  budget.left = DEADLINE_READS;
  try {
    await (WORKS[name] as Work)(services);
    return null;
  } catch (error) {
    return isStemmaError(error) ? null : `${name}: ${String(error)}`;
  }
};

const shuffled = (names: readonly string[], random: () => number): readonly string[] =>
  names
    .map((name) => [random(), name] as const)
    .sort(([a], [b]) => a - b)
    .map(([, name]) => name);

type Case = { readonly records: number; readonly damages: readonly (readonly [at: number, kind: string])[] };

/** Every kind with more than a cursor's 64 records after it, at the first record, and at the end; then by chance. */
const cases = (random: () => number): readonly Case[] => [
  ...Object.keys(DAMAGES).flatMap((kind) => [
    { records: 90, damages: [[4, kind]] as const },
    { records: 90, damages: [[5, kind]] as const },
    { records: 12, damages: [[0, kind]] as const },
    { records: 12, damages: [[11, kind]] as const },
  ]),
  ...Array.from({ length: sized(6, 60) }, () => {
    const records = 4 + Math.floor(random() * (MOST_RECORDS - 4));
    const kinds = Object.keys(DAMAGES);
    const damages = Array.from(
      { length: 1 + Math.floor(random() * 3) },
      () => [Math.floor(random() * records), kinds[Math.floor(random() * kinds.length)] as string] as const,
    );
    return { records, damages };
  }),
];

describe('a home over a damaged log', () => {
  it(
    'finishes every recovery operation, and acknowledges no damage that a rebuild would not find',
    { tags: ['long', 'record§2:damaged', 'record§2:unknown-key', 'record§5:lost-end'], timeout: 120_000 },
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'stemma-recovery-'));
      const random = seeded(2026);
      const wrong: unknown[] = [];
      try {
        const recorded = await recordedLog(MOST_RECORDS, directory);
        for (const each of cases(random)) {
          const log = await copyOf(recorded, each.records);
          const budget = { left: DEADLINE_READS };
          const services = memoryServices(withDeadline(log, budget), directory);
          await services.projector.catchUp();
          for (const [at, kind] of each.damages) damage(log, at, kind);
          budget.left = DEADLINE_READS;
          const written = await services.handler.submit(say('a', 'first')).catch((error: unknown) => error);
          if (!isStemmaError(written) && !(await isShownAnew(log, directory, 'say:a:first')))
            wrong.push({
              ...each,
              written: written instanceof Error ? String(written) : 'acknowledged, and gone',
            });
          for (const name of shuffled(Object.keys(WORKS), random)) {
            const how = await endsOf(services, budget, name);
            if (how !== null) wrong.push({ ...each, how });
          }
          // After `verify` the rows are what a reader gets who begins anew.
          budget.left = DEADLINE_READS;
          await verifyHome(services);
          budget.left = DEADLINE_READS;
          const report = await replayRows(services, { verify: true }).catch(String);
          if (typeof report === 'string' || report.differences > 0) wrong.push({ ...each, report });
        }
        expect(wrong).toEqual([]);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );
});

describe('a follower of a log', () => {
  /** The log; whoever waits again and again for what is there already ends the test. */
  const countingWaits = (log: EventLog): EventLog => {
    let waits = 0;
    return {
      ...log,
      wait: (...given) => {
        if (++waits > 10) throw new Error('it waits without waiting');
        return log.wait(...given);
      },
    };
  };

  it(
    'waits at damage that closes a partition until it is acknowledged, without using the processor',
    { tags: ['record§2:unknown-key'] },
    async () => {
      const recorded = await recordedLog(9, '');
      damage(recorded, 5, 'no key');
      const log = countingWaits(recorded);
      const services = memoryServices(log, '');
      const stop = new AbortController();
      const all = followLog(log, services.projection, { signal: stop.signal });
      const one = followFrom(log, services.projection, {
        signal: stop.signal,
        history: historyId('c', ''),
        from: 1,
      });
      await all.next();
      const next = [all.next(), one.next(), services.projector.follow(stop.signal)];
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
      await acknowledge(services, 0, { from: 5, to: 5 });
      // What lies behind the damage comes now.
      const found = expect.objectContaining({ history: historyId('c', ''), seq: 1 });
      expect(await next[1]).toMatchObject({ value: { events: expect.arrayContaining([found]) } });
      stop.abort();
      await Promise.all(next);
      await one.return(undefined);
    },
  );

  it('stops with a code when the log returns nothing before its end', async () => {
    const recorded = await recordedLog(9, '');
    const silent: EventLog = {
      ...recorded,
      read: async (partition, from, options) =>
        from < 4 ? recorded.read(partition, from, { ...options, maxBytes: 1 }) : { records: [], next: from },
    };
    const { projector } = memoryServices(silent, '');
    const never = new AbortController().signal;
    await expect(projector.follow(never)).rejects.toMatchObject({ code: 'E_BUSY' });
    await expect(projector.waitFor({ partition: 0, offset: 9 }, never)).rejects.toMatchObject({
      code: 'E_BUSY',
    });
  });
});

/** A log of its own with these records, or the first of them. */
const copyOf = async (log: MemoryLog, records = Infinity): Promise<MemoryLog> => {
  const copy = await openMemoryLog({ id: log.id });
  copy.records(0).splice(0, Infinity, ...log.records(0).slice(0, records));
  return copy;
};

/** True if rows that are made from the beginning, closed partitions acknowledged, know the command. */
const isShownAnew = async (log: MemoryLog, directory: string, id: string): Promise<boolean> => {
  const fresh = memoryServices(await copyOf(log), directory);
  for (;;) {
    await fresh.projector.catchUp();
    const found = (await fresh.projector.checkpoint(0))?.state;
    const closed = found?.damage.find(
      ({ affectsWholePartition, offset }) => affectsWholePartition && !found.acknowledged.includes(offset),
    );
    if (closed === undefined) break;
    await acknowledge(fresh, 0, { from: closed.offset, to: closed.offset });
  }
  return fresh.projector.read((view) => findCommand(view, historyId('a', ''), id) !== undefined);
};
