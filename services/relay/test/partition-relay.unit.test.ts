import {
  acknowledgeDamage,
  checkpointAtStart,
  readPartition,
  type Checkpoint,
  type EventLog,
  type HeadState,
} from '@stemma/log';
import { withoutVouching } from '@stemma/log/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  all,
  framesOf,
  openSimulation,
  recordsOf,
  refOf,
  runToEnd,
  seen,
  withImpossible,
} from './relay-simulation.ts';

describe('what is published', () => {
  it(
    'is every accepted event, in order, but no repeated frame, stale frame or control record',
    { tags: ['record§2:stale'] },
    async () => {
      const { log, start, topic } = await openSimulation();
      const [a, b] = [framesOf('ha', 3), framesOf('hb', 3)];
      const [one, two] = [recordsOf(a).entries, recordsOf(b).entries];
      const [other] = recordsOf(framesOf('ha', 4, 'another past').slice(0, 3)).entries.slice(2);
      await log.append(0, [...one.slice(0, 3), ...one.slice(1, 3), ...(other ? [other] : []), ...two]);
      await runToEnd(await start());
      await log.append(0, [...one.slice(3), ...two.slice(3)]);
      await runToEnd(await start());
      expect(seen(topic, 'ha')).toEqual(all(a));
      expect(seen(topic, 'hb')).toEqual(all(b));
      expect(topic.length).toBe(all(a).length + all(b).length);
      expect(new Set(topic.map(({ key }) => key))).toEqual(new Set(['ha', 'hb']));
    },
  );

  it(
    'is nothing after damage or of a defective history, and everything of other histories; the relay reports the damage once',
    { tags: ['record§2:damaged', 'record§2:defective'] },
    async () => {
      const { log, start, topic, said } = await openSimulation();
      const [bad, good] = [framesOf('hbad', 3), framesOf('hgood', 3)];
      const impossible = withImpossible(framesOf('hfalse', 2));
      const entries = recordsOf(bad).entries.map(({ key, bytes }, i) => ({
        key,
        bytes: i === 2 ? bytes.map((byte, at) => (at === 90 ? byte ^ 1 : byte)) : bytes,
      }));
      await log.append(0, [...entries, ...recordsOf(impossible).entries, ...recordsOf(good).entries]);
      const relay = await start();
      await runToEnd(relay);
      expect(seen(topic, 'hbad')).toEqual(all(bad.slice(0, 2)));
      expect(seen(topic, 'hfalse')).toEqual(all(impossible.slice(0, -1)));
      expect(seen(topic, 'hgood')).toEqual(all(good));
      expect(relay.checkpoint().held).toEqual(
        new Map([
          ['hbad', 2],
          ['hfalse', 3],
        ]),
      );
      await runToEnd(await start());
      expect(said.length).toBe(2);
    },
  );

  it(
    'waits at a missing content of a history, and goes on there, in order, when it is back',
    { tags: ['record§4:missing-content'] },
    async () => {
      const { log, contents, start, topic } = await openSimulation();
      const frames = framesOf('ha', 3, 'x'.repeat(300 * 1024));
      const { entries, contents: large } = recordsOf(frames);
      const others = framesOf('hb', 2);
      await log.append(0, [...entries, ...recordsOf(others).entries]);
      const relay = await start();
      await runToEnd(relay);
      expect(seen(topic, 'ha')).toEqual(all(frames.slice(0, 1)));
      expect(seen(topic, 'hb')).toEqual(all(others));
      for (const bytes of large) expect(await contents.put(bytes)).toEqual(refOf(bytes));
      await runToEnd(relay);
      expect(seen(topic, 'ha')).toEqual(all(frames));
      expect(relay.checkpoint().held.size).toBe(0);
      const inserted = topic.find(({ key, headers }) => key === 'ha' && headers['type'] === 'NodeInserted');
      expect(JSON.parse(inserted?.value ?? '')).toMatchObject({ contents: [{ at: '/event/node/content' }] });
    },
  );

  it(
    'stops with a report at a damaged record of an unknown history, and goes on when it is acknowledged',
    { tags: ['record§2:unknown-key'] },
    async () => {
      const offset = 1;
      const { log, start, topic, said } = await openSimulation(undefined, (inner) =>
        withoutVouching(inner, offset),
      );
      const frames = framesOf('ha', 2);
      expect(await log.end(0)).toBe(offset);
      await log.append(0, [{ key: 'hnobody', bytes: new Uint8Array(50) }, ...recordsOf(frames).entries]);
      const relay = await start();
      await runToEnd(relay);
      expect(topic).toEqual([]);
      expect(relay.isClosed()).toBe(true);
      expect(said.filter((sentence) => sentence.includes('closed')).length).toBe(1);
      const { checkpoint, heads } = await readAll(log);
      const author = { at: 1n, actor: 'operator', command: 'ack' };
      await acknowledgeDamage(log, checkpoint, { load: () => heads }, { from: offset, to: offset }, author);
      await runToEnd(relay);
      expect(seen(topic, 'ha')).toEqual(all(frames));
      expect(relay.isClosed()).toBe(false);
    },
  );
});

const readAll = async (log: EventLog): Promise<{ checkpoint: Checkpoint; heads: Map<string, HeadState> }> => {
  const heads = new Map<string, HeadState>();
  let checkpoint = await checkpointAtStart(log, 0);
  for await (const batch of readPartition(log, { checkpoint, heads: { load: () => heads } })) {
    for (const [history, head] of batch.heads) heads.set(history, head);
    checkpoint = batch.checkpoint;
  }
  return { checkpoint, heads };
};

it('is complete, in order and with identical repeats, whenever sends fail or the relay is killed', async () => {
  const histories = ['ha', 'hb', 'hc'].map((name, i) => framesOf(name, 6 + i));
  const lists = histories.map((frames) => recordsOf(frames).entries);
  const mixed = Array.from({ length: 10 }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1)));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('none', 'none', 'send', 'sent', 'save', 'die', 'bare'), { maxLength: 40 }),
      async (faults) => {
        const queue = [...faults];
        const { log, start, topic } = await openSimulation((of) => {
          if (queue[0] !== of) return;
          queue.shift();
          throw new Error(of);
        });
        let relay = await start();
        for (const entries of mixed) {
          await log.append(0, entries);
          const next = queue[0];
          if (next === 'none' || next === 'die' || next === 'bare') queue.shift();
          if (next === 'die' || next === 'bare') relay = await start({ emptyRows: next === 'bare' });
          await relay.step().catch(() => undefined);
        }
        for (let left = true; left;) left = await relay.step().catch(() => true);
        for (const frames of histories)
          expect(seen(topic, frames[0]?.envelope.history ?? '')).toEqual(all(frames));
      },
    ),
    { numRuns: 60 },
  );
});
