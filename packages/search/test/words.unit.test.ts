import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { excerptOf, parseQuery, wordsOf } from '../src/words.ts';

const words = (text: string): readonly string[] => wordsOf(text).map(({ word }) => word);

describe('the words of a text', () => {
  it('are lower case, without accents, and stand where they stood', () => {
    expect(wordsOf('Größe, ÉTÉ')).toEqual([
      { word: 'große', from: 0, to: 5 },
      { word: 'ete', from: 7, to: 10 },
    ]);
    expect(words('e\u0301te\u0301')).toEqual(words('été'));
  });

  it('are single characters in scripts that write no spaces', () => {
    expect(words('東京に行く travel2026')).toEqual(['東', '京', 'に', '行', 'く', 'travel2026']);
  });

  it('are cut at 128 units, since contents hold images as texts', () => {
    expect(words('A'.repeat(1_000_000))).toEqual(['a'.repeat(128)]);
  });
});

describe('a query', () => {
  it('has words, phrases, beginnings of words, and what must not be there', () => {
    expect(parseQuery('Refund "Travel Insurance" cancel* -hotel -"no show" block-7')).toEqual([
      { words: ['refund'], prefix: false, not: false },
      { words: ['travel', 'insurance'], prefix: false, not: false },
      { words: ['cancel'], prefix: true, not: false },
      { words: ['hotel'], prefix: false, not: true },
      { words: ['no', 'show'], prefix: false, not: true },
      { words: ['block', '7'], prefix: false, not: false },
    ]);
  });

  test.each(['', '***', '-refund', '"', 'x'.repeat(1_001), 'a '.repeat(33), 'a* '.repeat(9)])(
    'without a word that must be there, or of too many, is refused: %j',
    (query) => {
      expect(() => parseQuery(query)).toThrow(expect.objectContaining({ code: 'E_SEARCH_INVALID' }));
    },
  );
});

describe('an excerpt', () => {
  it('marks what was looked for, as it stands in the text, on one line', () => {
    const excerpt = excerptOf('You get\na Full  refund.', parseQuery('"full refund" GET'));
    expect(excerpt.text).toBe('You get a Full  refund.');
    expect(excerpt.marks.map(([from, to]) => excerpt.text.slice(from, to))).toEqual(['get', 'Full  refund']);
  });

  it('shows the first place of a long text, and never half a character', () => {
    const { text, marks } = excerptOf(`${'🙂'.repeat(300)} refund ${'🙂'.repeat(300)}`, parseQuery('refund'));
    expect([text.isWellFormed(), text.at(0), text.at(-1)]).toEqual([true, '…', '…']);
    expect(marks.map(([from, to]) => text.slice(from, to))).toEqual(['refund']);
  });

  it('has marks wherever the words of the query are words of the text, one after another', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.nat(), fc.nat(3), (text, at, more) => {
        const all = words(text);
        if (all.length === 0) return;
        const from = at % all.length;
        const phrase = all.slice(from, from + 1 + more).join(' ');
        const { text: shown, marks } = excerptOf(text, parseQuery(`"${phrase}"`));
        expect(shown.isWellFormed()).toBe(text.isWellFormed());
        expect(marks.length).toBeGreaterThan(0);
        const [[begin, end]] = marks as [readonly [number, number]];
        expect(words(shown.slice(begin, end)).join(' ')).toBe(words(phrase).join(' '));
      }),
    );
  });
});
