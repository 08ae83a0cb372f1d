import type { Command } from '@stemma/history';
import { sized } from '@stemma/test-kit';
import { compareCodePoints } from '@stemma/canonical';
import { cpSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { salvageBranch } from '@stemma/operations';
import {
  contentsOf,
  damage,
  eraseRecord,
  named,
  open,
  say,
  send,
  start,
  temporaryHome,
} from '@stemma/test-kit/home';
import { expect, test } from 'vitest';

test(
  'a home reads at once what it has written, and so does another home on the same directory',
  { tags: ['record§6:durable'] },
  async () => {
    using at = temporaryHome();
    const [one, two] = [await open(at.directory), await open(at.directory)];
    await start(one, 'a');
    for (let i = 0; i < 5; i++) {
      await say(i % 2 === 0 ? one : two, 'a', `word ${i}`);
      const words = Array.from({ length: i + 1 }, (_, k) => `word ${k}`);
      expect([await contentsOf(one, 'a'), await contentsOf(two, 'a')]).toEqual([words, words]);
    }
    await one.close();
    await two.close();
  },
);

test(
  'a command that is sent again gets the same answer and has no second effect, in any home',
  { tags: ['record§3:commands-remembered'] },
  async () => {
    using at = temporaryHome();
    const one = await open(at.directory);
    await start(one, 'a');
    const first = await say(one, 'a', 'once');
    expect(await say(one, 'a', 'once')).toEqual({ ...first, repeated: true });
    await one.close();
    const two = await open(at.directory);
    expect(await say(two, 'a', 'once')).toEqual({ ...first, repeated: true });
    await expect(send(two, 'a', 'say:a:once', [{ op: 'commit' }])).rejects.toMatchObject({
      code: 'E_COMMAND_REUSED',
    });
    expect((await two.read.snapshots(await two.find('a'))).length).toBe(1);
    await two.close();
  },
);

test(
  'of two homes that start a history of one name one succeeds, and the other is refused because the history exists',
  { tags: ['record§3:outcome'] },
  async () => {
    using at = temporaryHome();
    const homes = [await open(at.directory), await open(at.directory)];
    const outcomes = await Promise.allSettled(
      homes.map((home, i) => send(home, 'a', `start:${i}`, [{ op: 'start', name: 'a' }])),
    );
    expect(outcomes.map(({ status }) => status).toSorted(compareCodePoints)).toEqual([
      'fulfilled',
      'rejected',
    ]);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'E_HISTORY_EXISTS' },
    });
    await Promise.all(homes.map((home) => home.close()));
  },
);

test(
  'two homes that write to one history lose and repeat no command, and a command that expects another frame is refused',
  { tags: ['record§3:outcome', 'record§3:batches'] },
  async () => {
    using at = temporaryHome();
    const homes = [await open(at.directory), await open(at.directory)];
    await start(homes[0]!, 'a');
    const words = Array.from({ length: 40 }, (_, i) => `word ${i}`);
    // All at once, so that each home has several frames under way and is overtaken by the other.
    const outcomes = await Promise.all(words.map((word, i) => say(homes[i % 2]!, 'a', word)));
    expect(new Set(outcomes.map(({ seq }) => seq)).size).toBe(words.length);
    expect(((await contentsOf(homes[1]!, 'a')) as readonly string[]).toSorted(compareCodePoints)).toEqual(
      words.toSorted(compareCodePoints),
    );
    const late = send(homes[0]!, 'a', 'late', [{ op: 'commit' }], 1);
    await expect(late).rejects.toMatchObject({ code: 'E_CONFLICT' });
    expect(await homes[0]!.operations.verify()).toMatchObject({ ok: true });
    expect(await homes[0]!.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
    await Promise.all(homes.map((home) => home.close()));
  },
);

test(
  'an interrupted import that another home resumes has the same result as one that was not interrupted',
  { tags: ['long', 'record§3:imports'] },
  async () => {
    const record = async (directory: string, stops: readonly number[]): Promise<readonly string[]> => {
      const cycle = (i: number): string =>
        i % 7 === 3 ? `${i} `.repeat(sized(20_000, 100_000)) : `word ${i}`;
      for (const stop of stops) {
        const home = await open(directory);
        await start(home, 'a');
        for (let i = 0; i < stop; i++)
          await send(
            home,
            'a',
            `import:${i}`,
            [
              { op: 'insert', parent: '^ah', node: { nodeType: 'cb', content: cycle(i) }, at_ns: BigInt(i) },
              { op: 'commit', at_ns: BigInt(i) },
            ],
            i,
          );
        await home.close();
      }
      const home = await open(directory);
      expect(await home.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
      const hashes = (await home.read.snapshots(await home.find('a'))).map(({ treeHash }) => treeHash);
      await home.close();
      return hashes;
    };
    using one = temporaryHome();
    using two = temporaryHome();
    expect(await record(one.directory, [3, 4, 5, 11, 12, 20])).toEqual(await record(two.directory, [20]));
  },
);

test(
  'a follower that resumes with its cursor misses nothing, and a cursor of another log is refused',
  { tags: ['record§5:cursor'] },
  async () => {
    using at = temporaryHome();
    using other = temporaryHome();
    const [home, stranger] = [await open(at.directory), await open(other.directory)];
    await start(home, 'a');
    const stop = new AbortController();
    const follow = home.follow({ signal: stop.signal })[Symbol.asyncIterator]();
    const begun = (await follow.next()).value as { cursor: string };
    await say(home, 'a', 'live');
    const live = (await follow.next()).value as {
      cursor: string;
      events: readonly { seq: number; event: { type: string } }[];
    };
    expect(live.events.map(({ seq, event }) => [seq, event.type])).toEqual([
      [1, 'NodeInserted'],
      [1, 'TurnSealed'],
      [1, 'SnapshotCommitted'],
    ]);
    stop.abort();
    await follow.return?.();
    await say(home, 'a', 'while away');
    const again = new AbortController();
    const seen: number[] = [];
    for await (const { events } of home.follow({ signal: again.signal, after: begun.cursor })) {
      seen.push(...new Set(events.map(({ seq }) => seq)));
      if (seen.includes(2)) again.abort();
    }
    expect(seen).toEqual([1, 2]);
    const gone = stranger
      .follow({ signal: new AbortController().signal, after: live.cursor })
      [Symbol.asyncIterator]();
    await expect(gone.next()).rejects.toMatchObject({ code: 'E_STREAM_GONE' });
    await home.close();
    await stranger.close();
  },
);

test(
  'verify finds damage in a record whose rows already exist; then nothing after it is served or written, other histories continue, and salvage starts from the snapshot before it',
  { tags: ['record§2:damaged', 'record§2:verify', 'record§2:salvage'] },
  async () => {
    using at = temporaryHome();
    let home = await open(at.directory);
    for (const name of ['a', 'b']) {
      await start(home, name);
      for (const word of ['first', 'second', 'third']) await say(home, name, `${name} ${word}`);
    }
    await home.operations.verify();
    await home.close();
    damage(at.directory, 'a second');
    home = await open(at.directory);
    expect(await home.operations.verify()).toMatchObject({
      ok: false,
      problems: [{ kind: 'damaged', history: named('a'), seq: 2 }],
    });
    expect(await contentsOf(home, 'a')).toEqual(['a first']);
    await expect(home.position(await home.find('a'), '@c3')).rejects.toMatchObject({
      code: 'E_HISTORY_DAMAGED',
    });
    await expect(say(home, 'a', 'more')).rejects.toMatchObject({ code: 'E_HISTORY_DAMAGED' });
    await say(home, 'b', 'b fourth');
    const salvaged = await home.operations.salvage(await home.find('a'));
    expect(salvaged).toMatchObject({ name: 'a-salvaged', from: named('a'), seq: 1 });
    expect(await home.operations.salvage(await home.find('a'))).toEqual(salvaged);
    expect(await contentsOf(home, salvaged.history)).toEqual(['a first']);
    await expect(home.operations.salvage(await home.find('b'))).rejects.toMatchObject({
      code: 'E_NOTHING_TO_SALVAGE',
    });
    await home.close();
  },
);

test(
  'what is salvaged of an erasable history is erasable too, whoever started it',
  { tags: ['record§2:salvage'] },
  async () => {
    using at = temporaryHome();
    const home = await open(at.directory);
    await home.submit({
      ...{ id: 'start', history: named('a'), branchId: 0, by: { actor: 'ann' } },
      steps: [{ op: 'start', name: 'a', erasable: { subject: 'bob' } }],
    });
    await say(home, 'a', 'first');
    const damaged = {
      ...home,
      ...home.read,
      history: async () => ({ ...(await home.read.history(named('a'))), state: 'damaged' as const }),
    };
    const { history } = await salvageBranch(damaged, await home.find('a'));
    const events = await home.read.events(history, { limit: 9 });
    expect(events.find(({ event: { type } }) => type === 'HistoryStarted')?.event).toMatchObject({
      erasable: { subject: 'bob' },
    });
    await home.close();
  },
);

test(
  'damage in a record of an unknown history closes the partition until an operator acknowledges it',
  { tags: ['record§2:unknown-key', 'record§2:acknowledged-damage'] },
  async () => {
    using at = temporaryHome();
    let home = await open(at.directory);
    await start(home, 'a');
    await start(home, 'b');
    await home.close();
    eraseRecord(at.directory, 'start:b');
    home = await open(at.directory);
    const { problems } = await home.operations.verify();
    expect(problems.length).toBe(1);
    const { partition, offset } = problems[0]!;
    await expect(say(home, 'a', 'no')).rejects.toMatchObject({ code: 'E_PARTITION_CLOSED' });
    await expect(
      home.operations.acknowledge(partition!, { from: offset! + 1, to: offset! + 1 }),
    ).rejects.toMatchObject({
      code: 'E_NOTHING_TO_ACK',
    });
    await home.operations.acknowledge(partition!, { from: offset!, to: offset! });
    await say(home, 'a', 'yes');
    expect(await contentsOf(home, 'a')).toEqual(['yes']);
    expect(await home.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
    await home.close();
  },
);

test(
  'rows of a log that lost its newest records are not updated until they are rebuilt',
  { tags: ['record§5:lost-end'] },
  async () => {
    using at = temporaryHome();
    let home = await open(at.directory);
    await start(home, 'a');
    await say(home, 'a', 'kept');
    await home.close();
    const [log, older] = [join(at.directory, 'log'), join(at.directory, 'older')];
    cpSync(log, older, { recursive: true });
    home = await open(at.directory);
    await say(home, 'a', 'lost');
    await home.read.histories();
    await home.close();
    rmSync(log, { recursive: true });
    cpSync(older, log, { recursive: true });
    home = await open(at.directory);
    await expect(home.read.histories()).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
    await expect(say(home, 'a', 'other')).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
    expect(await home.operations.replay({ verify: false })).toMatchObject({ differences: 0 });
    await say(home, 'a', 'again');
    expect(await contentsOf(home, 'a')).toEqual(['kept', 'again']);
    await home.close();
  },
);

test(
  'a history whose first content is missing is listed as defective, and works again when the content is back',
  { tags: ['record§4:missing-content'] },
  async () => {
    using at = temporaryHome();
    const [home, kept] = [await open(at.directory), join(at.directory, 'kept')];
    const large = 'large '.repeat(100_000);
    await send(home, 'a', 'all', [
      { op: 'start', name: 'a' },
      { op: 'insert', parent: '^ah', node: { nodeType: 'cb', content: large } },
    ]);
    await home.close();
    const contents = join(at.directory, 'contents');
    cpSync(contents, kept, { recursive: true });
    rmSync(contents, { recursive: true });
    rmSync(join(at.directory, 'rows'), { recursive: true });
    const without = await open(at.directory);
    expect(await without.operations.verify()).toMatchObject({
      ok: false,
      problems: [{ history: named('a'), seq: 0 }],
    });
    await expect(without.find('a')).rejects.toMatchObject({ code: 'E_HISTORY_DEFECTIVE' });
    await without.close();
    cpSync(kept, contents, { recursive: true });
    const again = await open(at.directory);
    expect(await contentsOf(again, 'a')).toEqual([large]);
    expect(await again.operations.verify()).toMatchObject({ ok: true, contents: 1 });
    await again.close();
  },
);

test(
  'a position may name its branch, by its name within the history or in full',
  { tags: ['context-tree§5:branch-references'] },
  async () => {
    using at = temporaryHome();
    const home = await open(at.directory);
    await start(home, 'a');
    await say(home, 'a', 'one');
    const branchRef = await home.find('a');
    const plain = await home.position(branchRef, '@c1');
    for (const ref of ['main@c1', 'a@c1', 'a:main@c1', `${named('a')}@c1`])
      expect(await home.position(branchRef, ref)).toEqual(plain);
    await home.close();
  },
);

test('verification and replay yield to the event loop, so that they can be cancelled', async () => {
  using at = temporaryHome();
  const home = await open(at.directory);
  await start(home, 'a');
  const cycles = Array.from({ length: sized(150, 400) }, (_, i) => `${i} `.repeat(2_000));
  await Promise.all(cycles.map((text) => say(home, 'a', text)));
  let turns = 0;
  const beat = setInterval(() => turns++, 0);
  await home.operations.replay({ verify: true });
  const during = turns;
  await home.operations.verify();
  clearInterval(beat);
  expect([during > 1, turns > during]).toEqual([true, true]);
  const stop = new Error('enough');
  const cancel = (): never => {
    throw stop;
  };
  await expect(home.operations.verify({ progress: cancel })).rejects.toBe(stop);
  await expect(home.operations.replay({ verify: true, progress: cancel })).rejects.toBe(stop);
  expect(readdirSync(at.directory).toSorted(compareCodePoints)).toEqual(['contents', 'log', 'rows']);
  await home.close();
});

test(
  'a command without a usable id or author is refused before anything is written',
  { tags: ['record§3:refusals-forgotten'] },
  async () => {
    using at = temporaryHome();
    const home = await open(at.directory);
    const long = 'x'.repeat(513);
    for (const [id, recorder] of [
      ['', 'r'],
      [long, 'r'],
      ['c', ''],
      ['c', long],
    ] as const) {
      const sent = home.submit({
        id,
        history: named('a'),
        branchId: 0,
        by: { recorder },
        steps: [{ op: 'start', name: 'a' }],
      });
      await expect(sent).rejects.toMatchObject({ code: 'E_COMMAND_INVALID' });
    }
    expect(await home.read.histories()).toEqual([]);
    await home.close();
  },
);

test(
  'a command that is none is refused with a code, whatever is wrong with it',
  { tags: ['record§3:refusals-forgotten'] },
  async () => {
    using at = temporaryHome();
    const home = await open(at.directory);
    await start(home, 'a');
    const good = { id: 'c', history: named('a'), branchId: 0, by: { actor: 'ann' } };
    const bad: readonly unknown[] = [
      {},
      { ...good, steps: 'remove' },
      { ...good, steps: [null] },
      { ...good, steps: [{ op: 'insert', parent: '^ah' }] },
      {
        ...good,
        steps: [
          { op: 'insert', parent: '^ah' },
          { op: 'remove', id: 'x' },
        ],
      },
      { ...good, by: undefined, steps: [{ op: 'remove', id: 'x' }] },
      { ...good, steps: [{ op: 'remove' }] },
    ];
    for (const command of bad)
      await expect(home.submit(command as Command), JSON.stringify(command)).rejects.toMatchObject({
        code: expect.stringMatching(/^E_(COMMAND|NODE)_INVALID$/) as string,
      });
    await home.close();
  },
);

test(
  'a branch that another process has just begun takes commands at once',
  { tags: ['record§2:stale', 'pool:Branches-and-snapshots'] },
  async () => {
    using at = temporaryHome();
    const [one, two] = [await open(at.directory), await open(at.directory)];
    await start(one, 'a');
    await say(one, 'a', 'first');
    await say(one, 'a', 'second');
    const history = named('a');
    const by = { actor: 'ann' };
    const steps = [{ op: 'fork' as const, name: 'side', at: { branchId: 0, seq: 1 } }];
    const { branchId } = await two.submit({ id: 'fork', history, branchId: 0, by, steps });
    // The rows that the first one reads have the branch, and what it decides on does not.
    const { seq: expected } = await one.position(await one.find('a:side'));
    const insert = { op: 'insert' as const, parent: '^ah', node: { nodeType: 'cb', content: 'on the side' } };
    expect(
      await one.submit({ id: 'on it', history, branchId, by, expected, steps: [insert, { op: 'commit' }] }),
    ).toMatchObject({ branchId });
    expect(await one.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
    await Promise.all([one.close(), two.close()]);
  },
);

test(
  'a command on a history whose content is gone is refused before it is recorded, until the content is back',
  { tags: ['record§3', 'record§4:missing-content'] },
  async () => {
    using at = temporaryHome();
    let home = await open(at.directory);
    await start(home, 'a');
    await start(home, 'b');
    await say(home, 'a', 'x'.repeat(300_000));
    await say(home, 'a', 'whole');
    // The rows have all of it.
    expect(await contentsOf(home, 'a')).toHaveLength(2);
    await home.close();
    const folder = join(at.directory, 'contents');
    const [file = ''] = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name));
    const aside = join(at.directory, 'aside');
    renameSync(file, aside);
    home = await open(at.directory);
    const accepted = async (): Promise<unknown> =>
      (await home.operations.doctor()).partitions.map((partition) => partition.accepted);
    const before = await accepted();
    await expect(say(home, 'a', 'lost')).rejects.toMatchObject({
      code: 'E_CONTENT_MISSING',
      detail: { seq: 1 },
    });
    expect(await accepted()).toEqual(before);
    await say(home, 'b', 'elsewhere');
    renameSync(aside, file);
    await say(home, 'a', 'again');
    await home.close();
    home = await open(at.directory);
    expect(await contentsOf(home, 'a')).toEqual(['x'.repeat(300_000), 'whole', 'again']);
    expect(await home.operations.verify()).toMatchObject({ ok: true });
    await home.close();
  },
);
