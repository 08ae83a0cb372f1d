import { expect, it } from 'vitest';
import { damageSentences, lostSentences } from '../src/index.ts';

it('damage is described in one sentence for each closed partition and one for all stopped histories, with advice; encrypted histories without key are not called damaged', () => {
  expect(damageSentences({ closed: [], stopped: [], sealed: [] })).toEqual([]);
  const [closed, stopped, sealed, ...rest] = damageSentences({
    closed: [{ partition: 2, offset: 77 }],
    stopped: ['ha', 'hb', 'hc', 'hd'],
    sealed: ['hs'],
  });
  expect(closed).toContain('`stemma ack 2@77`');
  expect(stopped).toContain('4 histories are damaged or defective (ha, hb, hc …)');
  expect(sealed).toBe(
    'a history is sealed (hs): not shown, as its key is not in the folder `keys` of this home',
  );
  expect(rest).toEqual([]);
});

it('acknowledged damage is described in one sentence for each partition', () => {
  const [one, many, ...rest] = lostSentences([
    { partition: 1, offset: 4 },
    { partition: 3, offset: 7 },
    { partition: 3, offset: 8 },
  ]);
  expect(one).toContain('the damaged record 1@4 is lost and acknowledged');
  expect(many).toContain('2 damaged records of partition 3, the first 3@7, are lost and acknowledged');
  expect(rest).toEqual([]);
});
