import { openMemoryContents } from '@stemma/contents';
import { commandDigest, historyId, type Command } from '@stemma/history';
import { listLookups } from '@stemma/history-store';
import { openMemoryLog, openWriter, type EventLog } from '@stemma/log';
import { openProjector, type Projection } from '@stemma/projector';
import { openMemoryRowStore } from '@stemma/row-store';
import { anyOperations, HISTORY, naiveHistory, perform, rowsUnderTest, sized, START } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openRowsDomain } from '../src/decision-sources.ts';
import { NO_LOOKUPS, openLookupsInMemory } from '../src/lookups-in-memory.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(30, 200));

it(
  'lookups of frames in memory are those of the rows, whether they begin with the history or later',
  { tags: ['record§3:commands-remembered'] },
  () => {
    fc.assert(
      fc.property(anyOperations(1, 40), fc.nat(30), (actions, begin) => {
        const under = rowsUnderTest();
        const fromStart = openLookupsInMemory(NO_LOOKUPS);
        let later: ReturnType<typeof openLookupsInMemory> | undefined;
        const told = { ids: new Set<string>(), names: new Set<string>(), commands: new Set<string>() };
        const history = naiveHistory((frame) => {
          under.fold(frame);
          fromStart.add(frame);
          if (later === undefined && frame.seq >= begin)
            later = openLookupsInMemory(under.rows.now((view) => listLookups(view, HISTORY, 10_000))!);
          else later?.add(frame);
        });
        history.run(0, [START]);
        for (const action of actions) perform(history, action);
        const rows = under.rows.now((view) => listLookups(view, HISTORY, 10_000))!;
        for (const id of rows.ids) told.ids.add(id);
        for (const name of rows.names) told.names.add(name);
        for (const lookups of later === undefined ? [fromStart] : [fromStart, later]) {
          for (const id of [...told.ids, 'nobody']) expect(lookups.idTaken(id)).toBe(told.ids.has(id));
          for (const name of [...told.names, 'none'])
            expect(lookups.nameTaken(name)).toBe(told.names.has(name));
          for (const [name, branch] of rows.branches) expect(lookups.branchNamed(name)).toBe(branch);
          for (const [id, { seq, digest }] of rows.commands)
            expect(lookups.command(id)).toEqual({ seq, digest });
          expect(lookups.command('never sent')).toBeUndefined();
        }
        // Nothing is in memory that the rows do not have.
        const again = openLookupsInMemory(rows);
        expect(fromStart.bytes).toBe(again.bytes);
      }),
      { numRuns: RUNS },
    );
  },
);

it('more rows than a session keeps are not listed', () => {
  const under = rowsUnderTest();
  const history = naiveHistory(under.fold);
  history.run(0, [START]);
  const node = { nodeType: 'cb', role: 'user', content: 'x' };
  for (let i = 0; i < 5; i++) history.run(0, [{ op: 'insert', parent: '^ah', node }]);
  expect(under.rows.now((view) => listLookups(view, HISTORY, 4))).toBeUndefined();
});

const history = historyId('h', '');

/** A writer on one log and the reads that its decisions made. */
const openCounted = (log: EventLog, projection: Projection) => {
  let reads = 0;
  const contents = openMemoryContents();
  const counted: Projection = { ...projection, read: (fn) => (reads++, projection.read(fn)) };
  const writer = openWriter(log, {
    domain: openRowsDomain(
      log,
      counted,
      () => 1n,
      () => undefined,
    ),
    contents,
    random: () => 0,
    sleep: () => Promise.resolve(),
    now: () => 0,
  });
  const write = async (n: number, nodes = 1): Promise<number> => {
    const node = { nodeType: 'cb', role: 'user', content: 'x' };
    const steps: Command['steps'] =
      n === 0
        ? [{ op: 'start', name: 'h' }]
        : Array.from({ length: nodes }, () => ({ op: 'insert', parent: '^ah', node }));
    const command = { id: `c${n}`, history, branchId: 0, by: { recorder: 'r' }, steps };
    const before = reads;
    await writer.write({ id: command.id, digest: commandDigest(command), history, command });
    return reads - before;
  };
  return { write, close: () => writer.close() };
};

it.each([false, true])(
  'a decision on a known history reads no rows; those of a database are read once (remote: %s)',
  async (isRemote) => {
    const log = await openMemoryLog();
    const projector = openProjector({ log, contents: openMemoryContents(), store: openMemoryRowStore() });
    const first = openCounted(log, { ...projector, isRemote });
    // One opens the partition; whether there is such a history, and all else that decides on its start, is one more.
    expect(await first.write(0)).toBe(2);
    const reads = [];
    // After 16 frames it looks which of them the rows have.
    for (let n = 1; n < 16; n++) reads.push(await first.write(n));
    expect(new Set(reads)).toEqual(new Set([0]));
    await first.close();
    await projector.catchUp();
    const second = openCounted(log, { ...projector, isRemote });
    expect(await second.write(16)).toBeGreaterThan(0);
    const later = [];
    for (let n = 17; n < 30; n++) later.push(await second.write(n));
    expect(new Set(later)).toEqual(new Set([isRemote ? 0 : 1]));
    await second.close();
  },
);

it('a session that looks up many ids in rows of this machine reads all of them once, and then none', async () => {
  const log = await openMemoryLog();
  const projector = openProjector({ log, contents: openMemoryContents(), store: openMemoryRowStore() });
  const first = openCounted(log, projector);
  await first.write(0);
  await first.close();
  await projector.catchUp();
  const second = openCounted(log, projector);
  await second.write(1, 600);
  expect(await second.write(2, 600)).toBe(1);
  // Which ids are taken is known from now on; nothing is asked of the rows but, later, which frames they have.
  expect([await second.write(3, 600), await second.write(4, 600)]).toEqual([1, 0]);
  await second.close();
});
