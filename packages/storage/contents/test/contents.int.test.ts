import type { ContentRef } from '@stemma/canonical';
import { mkdtemp, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { describeContentStore } from '../src/contract.ts';
import { openDirectoryContents, openMemoryContents, type MemoryContents } from '../src/index.ts';

let memory: MemoryContents;
describeContentStore('memory', {
  create: async () => (memory = openMemoryContents()),
  alter: async ({ sha256 }, bytes) => {
    if (bytes) memory.stored.set(sha256, bytes);
    else memory.stored.delete(sha256);
  },
  destroy: async () => undefined,
});

let directory = '';
const pathOf = ({ sha256 }: ContentRef): string => join(directory, sha256.slice(0, 2), sha256.slice(2));
const create = async (): Promise<string> => (directory = await mkdtemp(join(tmpdir(), 'stemma-contents-')));
const destroy = (): Promise<void> => rm(directory, { recursive: true, force: true });

describeContentStore('a directory', {
  create: async () => openDirectoryContents(join(await create(), '')),
  reopen: async () => openDirectoryContents(directory),
  alter: (ref, bytes) => (bytes ? writeFile(pathOf(ref), bytes) : unlink(pathOf(ref))),
  destroy,
});

describe('a directory of contents', () => {
  afterEach(destroy);

  it(
    'leaves no partly written file behind, and ignores the partial files of a killed process',
    { tags: ['record§4:durable-first'] },
    async () => {
      const store = await openDirectoryContents(await create());
      await store.put(Buffer.from('x'));
      expect(await readdir(join(directory, 'tmp'))).toEqual([]);
      await writeFile(join(directory, 'tmp', 'left'), 'half');
      const again = await openDirectoryContents(directory);
      const found: ContentRef[] = [];
      for await (const ref of again.list()) found.push(ref);
      expect(found).toHaveLength(1);
    },
  );

  it('throws a coded error when the file system refuses an operation', { tags: ['record§4'] }, async () => {
    const store = await openDirectoryContents(await create());
    await rm(directory, { recursive: true, force: true });
    await writeFile(directory, 'a file in its place');
    await expect(store.put(Buffer.from('y'))).rejects.toMatchObject({ code: 'E_IO' });
  });
});
