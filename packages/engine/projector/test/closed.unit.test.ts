import { ContentRef, sha256, sha256Hex } from '@stemma/canonical';
import { openMemoryContents } from '@stemma/contents';
import { isStemmaError } from '@stemma/errors';
import type { Frame, HistoryEvent } from '@stemma/events';
import { DEFECTS, readHistoryHead, readTipSeq } from '@stemma/history-store';
import {
  encodeFrame,
  HASH_BYTES,
  openMemoryLog,
  sealRecord,
  ZERO_HASH,
  type Entry,
  type LogRecord,
  type MemoryLog,
} from '@stemma/log';
import { openMemoryRowStore } from '@stemma/row-store';
import { entriesOf, naiveHistory, someRecorded } from '@stemma/test-kit';
import { describe, expect, it } from 'vitest';
import { openProjector, verifyReplay, type Projector } from '../src/index.ts';

const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isStemmaError(error) ? error.code : error),
  );

/** A history with three cycles, and frames to append behind it. */
const frames = (history: string, content: unknown = 'x'): Frame[] => {
  const naive = naiveHistory(() => undefined, history);
  naive.run(0, [{ op: 'start', name: null }]);
  for (let i = 0; i < 3; i++)
    naive.run(0, [
      { op: 'insert', parent: '^ah', node: { nodeType: 'cb', offset: 0, content: content as never } },
      { op: 'commit' },
    ]);
  return [...naive.frames];
};

const behind = (list: Frame[], events: readonly HistoryEvent[], v = 1): Frame[] => {
  const last = list.at(-1) as Frame;
  const envelope = { ...last.envelope, v, seq: last.envelope.seq + 1 };
  return [...list, { envelope, body: { ...last.body, command: `more ${envelope.seq}`, events } }];
};

const opened = async (entries: readonly Entry[]): Promise<{ log: MemoryLog; projector: Projector }> => {
  const log = await openMemoryLog();
  await log.append(0, entries);
  return {
    log,
    projector: openProjector({
      log,
      contents: openMemoryContents(),
      store: openMemoryRowStore(),
      limits: { frames: 2 },
    }),
  };
};

/** The same frame with the event named as one of some later version, in as many bytes. */
const laterOf = ({ key, bytes }: Entry): Entry => {
  const text = Buffer.from(bytes.subarray(0, -HASH_BYTES)).toString('latin1');
  const [known, later] = text.includes('HistoryStarted')
    ? ['HistoryStarted', 'HistoryStirred']
    : ['NodeInserted', 'NodeInstated'];
  return { key, bytes: sealRecord(Buffer.from(text.replace(known, later), 'latin1')) };
};

/** The first frame of a history, with an event of a later version. */
const laterStart = (history: string): Entry => laterOf(entriesOf(frames(history).slice(0, 1))[0] as Entry);

describe('what is not served', () => {
  it(
    'an impossible frame makes its history defective from there on, and other histories go on',
    { tags: ['record§2:defective'] },
    async () => {
      const impossible: HistoryEvent = { type: 'NodeRemoved', id: 'nobody', subtree: [] };
      const bad = behind(behind(frames('bad'), [impossible]), [
        { type: 'PositionNamed', name: 'later', branchId: 0, seq: 0 },
      ]);
      const { projector } = await opened([...entriesOf(bad), ...entriesOf(frames('good'))]);
      await projector.catchUp();
      await projector.read((view) => {
        expect(readHistoryHead(view, 'bad')).toMatchObject({ next: 6, state: 'defective', stopped: 4 });
        expect(readHistoryHead(view, 'good')).toMatchObject({ next: 4, state: 'open', stopped: null });
        expect([readTipSeq(view, 'bad', 0), readTipSeq(view, 'good', 0)]).toEqual([3, 3]);
        expect(view.get(DEFECTS, ['bad'])?.slice(0, 2)).toEqual([4, 'E_HISTORY_DEFECTIVE']);
      });
      expect(
        (await verifyReplay(projector, { scratch: () => openMemoryRowStore(), batchSizes: [1, 100] }))
          .differences,
      ).toBe(0);
    },
  );

  it(
    'a frame whose recorded hash differs from the computed one makes its history defective',
    { tags: ['record§2:defective'] },
    async () => {
      const list = frames('h');
      const last = list[3] as Frame;
      const events = last.body.events.map((event) =>
        event.type === 'SnapshotCommitted' ? { ...event, treeHash: new Uint8Array(32) } : event,
      );
      const { projector } = await opened(
        entriesOf([...list.slice(0, 3), { ...last, body: { ...last.body, events } }]),
      );
      await projector.catchUp();
      expect(
        await projector.read((view) => [readHistoryHead(view, 'h')?.stopped, readTipSeq(view, 'h', 0)]),
      ).toEqual([3, 2]);
    },
  );

  it(
    'an event of a later version stops the projector before it, with everything earlier folded',
    { tags: ['record§2:unknown-version'] },
    async () => {
      const good = entriesOf(frames('h'));
      const { projector, log } = await opened([...good.slice(0, 3), laterStart('i'), ...good.slice(3)]);
      expect(await codeOf(projector.catchUp())).toBe('E_VERSION_NEEDED');
      expect(await codeOf(projector.catchUp())).toBe('E_VERSION_NEEDED');
      expect(await projector.read((view) => readTipSeq(view, 'h', 0))).toBe(2);
      expect((await projector.checkpoint(0))?.cursor.offset).toBe(
        log.records(0).findIndex(({ key }) => key === 'i'),
      );
    },
  );

  it(
    'of several events of later versions in one batch the first stops the projector',
    { tags: ['record§2:unknown-version'] },
    async () => {
      const [first, second, third, fourth] = ['first', 'second', 'third', 'fourth'].map((history) =>
        entriesOf(frames(history)),
      ) as [Entry[], Entry[], Entry[], Entry[]];
      const entries = [
        ...first.slice(0, 2),
        ...second.slice(0, 1),
        ...third.slice(0, 2),
        laterOf(second[1] as Entry),
        ...fourth,
        laterOf(first[2] as Entry),
        laterOf(third[2] as Entry),
      ];
      const log = await openMemoryLog();
      await log.append(0, entries);
      const projector = openProjector({ log, contents: openMemoryContents(), store: openMemoryRowStore() });
      expect(await codeOf(projector.catchUp())).toBe('E_VERSION_NEEDED');
      const tips = ['first', 'second', 'third'].map((history) =>
        projector.read((view) => readTipSeq(view, history, 0)),
      );
      expect(await Promise.all(tips)).toEqual([1, 0, 1]);
      expect(await projector.read((view) => readHistoryHead(view, 'fourth'))).toBeUndefined();
      // Behind LogOpened.
      expect((await projector.checkpoint(0))?.cursor.offset).toBe(1 + 5);
    },
  );

  it(
    'a missing content makes its history defective until the content is back',
    { tags: ['record§4:missing-content'] },
    async () => {
      const naive = frames('h', 'long '.repeat(80_000));
      let prev: Uint8Array = ZERO_HASH;
      const stored = new Map<string, Uint8Array>();
      const entries = naive.map(({ envelope, body }) => {
        const { bytes, contents } = encodeFrame({ ...envelope, prev }, body);
        for (const content of contents) stored.set(sha256Hex(content.bytes), content.bytes);
        prev = sha256(bytes);
        return { key: 'h', bytes: sealRecord(bytes) };
      });
      expect(stored.size).toBe(1);
      const log = await openMemoryLog();
      await log.append(0, entries);
      const contents = openMemoryContents();
      const projector = openProjector({ log, contents, store: openMemoryRowStore() });
      await projector.catchUp();
      expect(
        await projector.read((view) => [
          readHistoryHead(view, 'h')?.state,
          view.get(DEFECTS, ['h'])?.[1],
          readTipSeq(view, 'h', 0),
        ]),
      ).toEqual(['defective', 'E_CONTENT_MISSING', 0]);
      for (const bytes of stored.values()) expect(await contents.put(bytes)).toBeInstanceOf(ContentRef);
      await projector.catchUp();
      expect(
        await projector.read((view) => [
          readHistoryHead(view, 'h')?.state,
          view.get(DEFECTS, ['h']),
          readTipSeq(view, 'h', 0),
        ]),
      ).toEqual(['open', undefined, 3]);
    },
  );

  it(
    'a damaged record of an unknown history closes the partition: later records wait, and waiting for them is refused',
    { tags: ['record§2:unknown-key'] },
    async () => {
      const recorded = someRecorded(31, 2, 20);
      const log = await openMemoryLog();
      await log.append(0, recorded.entries.slice(0, 5));
      await log.append(0, [{ key: 'never seen', bytes: Uint8Array.of(1, 2, 3) }]);
      log.records(0)[6] = { ...(log.records(0)[6] as LogRecord), keyVouched: false };
      const placed = await log.append(0, recorded.entries.slice(5));
      const projector = openProjector({ log, contents: openMemoryContents(), store: openMemoryRowStore() });
      await projector.catchUp();
      expect((await projector.checkpoint(0))?.state.damage).toEqual([
        { offset: 6, history: 'never seen', seq: 0, affectsWholePartition: true },
      ]);
      const never = new AbortController().signal;
      expect(await codeOf(projector.waitFor({ partition: 0, offset: placed.at(-1)!.next }, never))).toBe(
        'E_PARTITION_CLOSED',
      );
    },
  );
});
