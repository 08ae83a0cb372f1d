import { mountSmallDisk, NO_SMALL_DISK } from '@stemma/test-kit';
import { open } from 'lmdb';
import { join } from 'node:path';
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openRoom } from '../src/index.ts';

const BYTES = { keyEncoding: 'binary', encoding: 'binary' } as const;

/** Rows in a folder, whose transactions make room for themselves. */
const openRows = (folder: string) => {
  const file = join(folder, 'rows.mdb');
  const root = open<Buffer, Buffer>({ path: file, noSync: true, maxDbs: 4, ...BYTES });
  const room = openRoom(file);
  const rows = room.counted(root.openDB<Buffer, Buffer>({ name: 'rows', ...BYTES }));
  return { file, root, room, rows };
};

test(
  'values that are longer than half a page need about the room that they take',
  { tags: ['decision-0112'] },
  async ({ skip }) => {
    const disk = mountSmallDisk(4_000);
    if (disk === undefined) {
      skip(NO_SMALL_DISK);
      return;
    }
    const { file, root, room, rows } = openRows(disk.path);
    const write = (first: number, count: number): void =>
      root.transactionSync(() =>
        room.during(() => {
          for (let n = first; n < first + count; n++)
            rows.putSync(Buffer.from(String(n)), Buffer.alloc(30_000, 1));
        }),
      );
    try {
      write(0, 1);
      const before = statSync(file).size;
      disk.fill(2_000 * 1024);
      write(1, 50);
      expect(statSync(file).size - before).toBeLessThan(1.3 * 50 * 30_000);
      expect(rows.get(Buffer.from('50'))).toHaveLength(30_000);
      expect(() => write(51, 50)).toThrow('ENOSPC');
    } finally {
      await root.close();
      room.close();
      disk.close();
    }
  },
);

test(
  'whatever a disk has no room for is refused before LMDB writes it, and written when there is room',
  { tags: ['decision-0112'] },
  async ({ skip }) => {
    const disk = mountSmallDisk(2_000);
    if (disk === undefined) {
      skip(NO_SMALL_DISK);
      return;
    }
    const { file, root, room, rows } = openRows(disk.path);
    const write = (round: number): void =>
      root.transactionSync(() =>
        room.during(() => {
          for (let n = 0; n <= round % 40; n++)
            rows.putSync(Buffer.from(`${round}-${n}`), Buffer.alloc((round * 7_919) % 9_000, 1));
        }),
      );
    const refused = (round: number): string => {
      try {
        write(round);
        return '';
      } catch (error) {
        return (error as NodeJS.ErrnoException).code ?? String(error);
      }
    };
    try {
      write(1);
      for (const left of [0, 4_096, 12_288, 53_248]) {
        disk.fill(left);
        // Without the room, the first of these rounds ends most processes.
        const answers = new Set(Array.from({ length: 500 }, (_, round) => refused(40 + round)));
        expect(answers).toContain('ENOSPC');
        expect([...answers].filter((answer) => !['', 'ENOSPC'].includes(answer))).toEqual([]);
        expect(rows.get(Buffer.from('1-0'))).toHaveLength(7_919);
      }
      disk.free();
      write(2);
      expect(rows.get(Buffer.from('2-2'))).toHaveLength(15_838 % 9_000);
      const { size, blocks } = statSync(file);
      expect(blocks * 512).toBeGreaterThanOrEqual(size);
    } finally {
      await root.close();
      room.giveBack();
      room.close();
      disk.close();
    }
  },
);
