import { openCallStarter, openRequestRecorder, recordCall } from '@stemma/call-recording';
import { openMemoryLog } from '@stemma/log';
import type { Projection } from '@stemma/projector';
import { findServedPosition, viewOf } from '@stemma/queries';
import type { RowReader } from '@stemma/row-store';
import { sized } from '@stemma/test-kit';
import { memoryServices, temporaryHome } from '@stemma/test-kit/home';
import { expect, test } from 'vitest';

const by = { recorder: 'proxy' };
const said = (who: number, turn: number): { role: string; content: string }[] =>
  Array.from({ length: 2 * turn - 1 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `${who} says ${i}, as everybody does`,
  }));

/** A projection that counts look-ups and the rows that ranges gave. */
const counting = (projection: Projection) => {
  const reads = { gets: 0, ranges: 0, rows: 0 };
  const counted = (rows: RowReader): RowReader => ({
    get: (table, key) => {
      reads.gets++;
      return rows.get(table, key);
    },
    range: (table, range) => {
      const found = rows.range(table, range);
      reads.ranges++;
      reads.rows += found.length;
      return found;
    },
  });
  const read: Projection['read'] = (fn) =>
    projection.read((view) => fn(Object.assign(Object.create(view) as typeof view, counted(view))));
  return { reads, projection: { ...projection, read } };
};

test(
  'what a call looks up is the same with any number of histories',
  { tags: ['calls§3.9'], timeout: 1_200_000 },
  async () => {
    using at = temporaryHome();
    const services = memoryServices(await openMemoryLog(), at.directory);
    const { projector, handler } = services;
    const { reads, projection } = counting(projector);
    const starter = openCallStarter(projection);
    const home: Parameters<typeof openRequestRecorder>[0] = {
      position: (branch, ref = '') => projection.read((rows) => findServedPosition(rows, branch, ref)),
      view: (position) => viewOf(projection, position),
      submit: (command) => handler.submit(command),
      recordCall: (branch, call) => recordCall(home, projection, branch, call, starter),
      catchUp: () => projector.catchUp(),
    };
    // A new one each time: what it remembers of conversations would read nothing.
    const send = async (id: string, messages: ReturnType<typeof said>) => {
      Object.assign(reads, { gets: 0, ranges: 0, rows: 0 });
      const placed = await openRequestRecorder(home, projection, starter).record({
        ...{ id, by, messages, within: { run: 'r' } },
        facts: {
          api: 'openai.chat',
          model: 'm',
          parameters: {},
          tools: null,
          request: Buffer.from(JSON.stringify(messages)),
        },
      });
      return { match: placed.match, ...reads };
    };
    const measure = async (who: number) => ({
      started: await send(`${who}-1`, said(who, 1)),
      appended: await send(`${who}-2`, said(who, 2)),
      repeated: await send(`${who}-3`, said(who, 2)),
    });
    // Those that begin with the same words have names with numbers; after a few of them no further ones are tried.
    for (let who = 0; who < 8; who++) await measure(who);
    const few = await measure(8);
    expect(few).toMatchObject({
      started: { match: 'started' },
      appended: { match: 'appended' },
      repeated: { match: 'repeated' },
    });
    expect(few.appended.rows).toBeGreaterThan(0);
    const histories = sized(60, 1_000);
    for (let who = 9; who < histories; who++) await send(`${who}-1`, said(who, 1));
    expect(await measure(histories)).toEqual(few);
  },
);
