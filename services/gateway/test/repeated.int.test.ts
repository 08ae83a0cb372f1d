import { StreamMessage } from '@stemma/api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { block, commit, openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeEach(async () => {
  airline = await openAirline();
});
afterEach(() => airline.close());

const act = (id: string, step: object, history = 'airline') =>
  airline.client.command({ history, body: { id, actor: 'Ada', steps: [step as never] } });
const load = (id: string, from: string, more: object = {}) =>
  airline.client.load({ history: 'airline', body: { id, actor: 'Ada', from, ...more } });
const frames = async () => (await airline.client.history({ history: 'airline' })).frames;

const REUSED = { code: 'E_COMMAND_REUSED' };

test(
  'a repeated command with a reference relative to the newest position acts on the position of the first time',
  { tags: ['record§3:commands-remembered', 'pool:Interventions'] },
  async () => {
    const fork = { op: 'fork', at: '@t-1', name: 'try' };
    const forked = await act('f', fork);
    const noted = await airline.client.command({
      history: 'airline',
      body: {
        id: 'n',
        actor: 'Ada',
        steps: [
          { op: 'save', name: 'here' },
          { op: 'save', name: 'there', position: '@t-1', description: 'one back' },
          { op: 'annotate', note: 'the last', position: '@t0' },
        ],
      },
    });
    await airline.record('five', commit(7));
    const back = await act('r', { op: 'rollback', to: '@t-2' });
    await airline.record('six', block('again', 'x'), commit(8));
    const before = await frames();
    expect((await act('f', fork)).events).toEqual(forked.events);
    expect((await act('r', { op: 'rollback', to: '@t-2' })).events).toEqual(back.events);
    const again = await airline.client.command({
      history: 'airline',
      body: {
        id: 'n',
        actor: 'Ada',
        steps: [
          { op: 'save', name: 'here' },
          { op: 'save', name: 'there', position: '@t-1', description: 'one back' },
          { op: 'annotate', note: 'the last', position: '@t0' },
        ],
      },
    });
    expect([again.repeated, again.events]).toEqual([true, noted.events]);
    expect(await frames()).toBe(before);
  },
);

test(
  'a repeated load is a rollback or a fork as it was at first, whatever the branch recorded since',
  { tags: ['record§3:commands-remembered', 'pool:Branches-and-snapshots'] },
  async () => {
    const back = await load('l1', '@name:booked');
    // Now that the name has moved on, what was left is no past of it: asked anew it would be a fork.
    expect(back.events[1]).toMatchObject({ how: 'rollback', at: 3 });
    const fork = await load('l2', '@s4', { name: 'left' });
    expect(fork.events[1]).toMatchObject({ how: 'fork', at: 4 });
    const nearest = await load('l3', '@t-1');
    await airline.record('five', block('again', 'x'), commit(9));
    const before = await frames();
    expect(await load('l1', '@name:booked')).toMatchObject({ repeated: true, events: back.events });
    expect(await load('l2', '@s4', { name: 'left' })).toMatchObject({ repeated: true, events: fork.events });
    expect(await load('l3', '@t-1')).toMatchObject({ repeated: true, events: nearest.events });
    await expect(load('l1', '@c1')).rejects.toMatchObject(REUSED);
    await expect(load('l2', '@s4', { name: 'other' })).rejects.toMatchObject(REUSED);
    await expect(load('four', '@c1')).rejects.toMatchObject(REUSED);
    expect(await frames()).toBe(before);
  },
);

test(
  'a command sent again finds its branch after a rollback has moved the name, and on another branch it is another command',
  { tags: ['record§3:commands-remembered'] },
  async () => {
    const fork = { op: 'fork', at: '@c2', name: 'other' };
    const forked = await act('f', fork);
    const said = await act('i', { op: 'inject', text: 'hello' });
    for (const id of ['r1', 'r2']) await act(id, { op: 'rollback', to: '@c1' });
    expect((await act('f', fork)).events).toEqual(forked.events);
    const again = await act('i', { op: 'inject', text: 'hello' });
    expect([again.repeated, again.position]).toMatchObject([true, { branchId: 0, seq: said.position.seq }]);
    await expect(act('i', { op: 'inject', text: 'hello' }, 'airline:other')).rejects.toMatchObject(REUSED);
    await expect(act('f', { ...fork, at: '@c1' })).rejects.toMatchObject(REUSED);
  },
);

test(
  'live events use the current names of branches: after a rollback events of the abandoned branch are not of main',
  { tags: ['record§5', 'context-tree§5:rollback'] },
  async () => {
    await act('r', { op: 'rollback', to: '@c2' });
    const stream = await airline.app.request('/api/events?history=airline');
    await act('left', { op: 'inject', text: 'to what was left' }, 'airline:0');
    await act('main', { op: 'inject', text: 'to what went on' });
    const { history } = await airline.client.history({ history: 'airline' });
    const reader = (stream.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      .getReader();
    const announced: { branch: string; branchId: number; command: string }[] = [];
    for (let text = ''; !announced.some(({ command }) => command === 'main');) {
      const { value = '', done } = await reader.read();
      if (done) break;
      const parts = (text + value).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const data = /^data: (.*)$/m.exec(part)?.[1];
        if (data !== undefined) announced.push(...StreamMessage.parse(JSON.parse(data)).events);
      }
    }
    await reader.cancel();
    const named = announced.map(
      ({ branch, branchId, command }) => `${command} ${branch.slice(history.length)} ${branchId}`,
    );
    expect([...new Set(named)]).toEqual(['left :0 0', 'main  5']);
    const { events } = await airline.client.events({ history: 'airline' });
    expect(events.map(({ branch }) => branch)).toContain(`${history}:0`);
  },
);
