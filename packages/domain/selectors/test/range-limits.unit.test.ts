import { describe, expect, it } from 'vitest';
import { diffContents } from '../src/range/content-diff.ts';

import { rangeOptions, type RangeOptions } from '../src/range/range-options.ts';
import { rangeResult, type RangeDiff } from '../src/range/range-result.ts';

const NUMBERS = ['contextLines', 'maxSnapshots', 'maxChangesPerSnapshot', 'limit', 'skip'] as const;

describe('the limits of a range query', { tags: ['context-tree§6:range-result'] }, () => {
  it.each(NUMBERS)('%s is a whole number from 0', (name) => {
    for (const value of [0, 1, 3]) expect(rangeOptions({ [name]: value })).toMatchObject({ [name]: value });
    for (const value of [-1, 0.5, NaN, Infinity, 2 ** 53])
      expect(() => rangeOptions({ [name]: value }), String(value)).toThrow(
        expect.objectContaining({
          code: 'E_USAGE',
          message: `${name} must be a whole number from 0`,
        }) as Error,
      );
  });

  it('has defaults, which what is given replaces', () => {
    expect(rangeOptions({})).toEqual({
      includeContent: false,
      contentMode: 'unified',
      contextLines: 3,
      maxSnapshots: 1_000,
    });
    expect(rangeOptions({ contextLines: 0 }).contextLines).toBe(0);
  });

  it('contents of exactly 4 MiB together are compared, of one byte more they are not', () => {
    const half = 'x'.repeat(2 * 1024 * 1024);
    const compare = (older: string, newer: string): boolean =>
      diffContents({ label: 'a', content: older }, { label: 'b', content: newer }, 'unified', 0).summary
        .truncated;
    expect(compare(half, half)).toBe(false);
    expect(compare(half, `${half}x`)).toBe(true);
    expect(compare(`${half}x`, half)).toBe(true);
  });

  const diff = (stats: RangeDiff['stats']): RangeDiff => ({
    from: '@t-1',
    to: '@t0',
    added_ids: ['a'],
    removed_ids: ['r'],
    changed: [{ id: 'c', fields: [], delta: {} }],
    stats,
  });
  const limitsOf = (options: RangeOptions, ...diffs: readonly RangeDiff[]) =>
    rangeResult('@*', [], diffs, options).limits;

  it('is truncated if a pair lists fewer than it counts, of any kind', () => {
    const limits = { maxChangesPerSnapshot: 1 };
    expect(limitsOf(limits, diff({ added: 1, removed: 1, changed: 1 }))).toEqual(limits);
    for (const stats of [
      { added: 2, removed: 1, changed: 1 },
      { added: 1, removed: 2, changed: 1 },
      { added: 1, removed: 1, changed: 2 },
    ])
      expect(limitsOf(limits, diff({ added: 1, removed: 1, changed: 1 }), diff(stats))).toEqual({
        ...limits,
        truncated: true,
      });
    expect(limitsOf({}, diff({ added: 2, removed: 1, changed: 1 }))).toBeUndefined();
    expect(limitsOf({ maxSnapshots: 3 })).toEqual({ maxSnapshots: 3 });
  });
});
