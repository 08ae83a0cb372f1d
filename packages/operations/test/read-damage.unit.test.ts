import { expect, it } from 'vitest';
import { damageSentences } from '../src/index.ts';

it('damage is told in a sentence for each closed partition and one for all histories that stop, with what to do', () => {
  expect(damageSentences({ closed: [], stopped: [] })).toEqual([]);
  const [closed, stopped, ...rest] = damageSentences({
    closed: [{ partition: 2, offset: 77 }],
    stopped: ['ha', 'hb', 'hc', 'hd'],
  });
  expect(closed).toContain('`stemma ack 2@77`');
  expect(stopped).toContain('4 histories are damaged or defective (ha, hb, hc …)');
  expect(rest).toEqual([]);
});
