import { historyId, type Command, type Step } from '@stemma/history';
import type { Session } from '@stemma/log';
import { expect, it } from 'vitest';
import { openWithoutRows, write } from './writer-without-rows.ts';

const by = { recorder: 'r' };
const nameOf = (n: number): string => `h${n}`;
const idOf = (n: number): string => historyId(nameOf(n), '');
const command = (n: number, id: string, step: Step): Command => ({
  ...{ id, history: idOf(n), branchId: 0, by },
  steps: [step],
});
const start = (n: number): Command => command(n, 'c0', { op: 'start', name: nameOf(n) });
const insert = (n: number, id: string, content: string): Command =>
  command(n, id, { op: 'insert', parent: '^ah', node: { nodeType: 'cb', role: 'user', content } });

it(
  'once the rows have the frames of many short histories, the writer keeps of them only what it decides by',
  { tags: ['long'] },
  async () => {
    const sessions = new Map<string, Session<Command>>();
    const { projector, writer } = await openWithoutRows(undefined, (domain) => ({
      ...domain,
      load: async (history, from) => {
        const loaded = await domain.load(history, from);
        sessions.set(history, loaded.session);
        return loaded;
      },
    }));
    const bytesOf = (n: number): number => sessions.get(idOf(n))?.bytes ?? 0;
    const histories = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++) {
        expect(await write(writer, start(n))).toBe('written');
        expect(await write(writer, insert(n, 'c1', 'x'.repeat(10_000)))).toBe('written');
      }
    };
    await histories(0, 300);
    // The rows have none of them.
    expect(bytesOf(0)).toBeGreaterThan(35_000);
    await projector.catchUp();
    await histories(300, 600);
    expect(bytesOf(0)).toBeLessThan(35_000);
    expect(bytesOf(599)).toBeGreaterThan(35_000);
    expect(await write(writer, insert(0, 'c1', 'x'.repeat(10_000)))).toBe('repeated');
    expect(await write(writer, insert(0, 'c1', 'y'))).toBe('E_COMMAND_REUSED');
    expect(await write(writer, insert(0, 'c2', 'y'))).toBe('written');
    // Nothing was loaded anew for that.
    expect(sessions.get(idOf(0))?.next).toBe(3);
    await writer.close();
  },
);
