import { describe, expect, it } from 'vitest';
import { stageRows } from './staged-rows.ts';
import { defineTable } from './table.ts';

const THINGS = defineTable({
  name: 'things',
  about: 'For this test.',
  key: [
    ['owner', 'text'],
    ['number', 'uint'],
  ],
  value: [['text', 'text']],
});

describe('staged rows', () => {
  it('forget all changes when they are committed, and take others', () => {
    const staged = stageRows({ get: () => undefined, range: () => [] });
    const all = (): readonly unknown[] => staged.range(THINGS, { prefix: ['h'] });
    staged.put(THINGS, ['h', 1], ['one']);
    expect(staged.get(THINGS, ['h', 1])).toEqual(['one']);
    expect(all()).toHaveLength(1);
    staged.clear();
    expect([staged.size, staged.savepoint(), staged.changes(), all()]).toEqual([0, 0, [], []]);
    expect(staged.get(THINGS, ['h', 1])).toBeUndefined();
    staged.put(THINGS, ['h', 2], ['two']);
    expect(staged.changes()).toEqual([{ table: THINGS, key: ['h', 2], value: ['two'] }]);
    expect(all()).toEqual([{ key: ['h', 2], value: ['two'] }]);
  });
});
