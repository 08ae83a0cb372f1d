import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { cutText, excerptOf, parseQuery } from '../src/words.ts';

const words = (text: string): readonly string[] => cutText(text).words.map(({ word }) => word);

describe('the words of a text', () => {
  it('are lower case, without accents, and stand where they stood', () => {
    expect(cutText('Größe, ÉTÉ').words).toEqual([
      { word: 'große', from: 0, to: 5 },
      { word: 'ete', from: 7, to: 10 },
    ]);
    expect(words('e\u0301te\u0301')).toEqual(words('été'));
  });

  it('are single characters in scripts that write no spaces', () => {
    expect(words('東京に行く travel2026')).toEqual(['東', '京', 'に', '行', 'く', 'travel', '2026']);
  });

  it('are cut at 128 units, since contents hold images as texts', () => {
    expect(words('A'.repeat(1_000_000))).toEqual(['a'.repeat(128)]);
  });
});

/** What is marked in a text for a query: nothing, where it is not found. */
const marked = (text: string, query: string): readonly string[] => {
  const { text: shown, marks } = excerptOf(text, parseQuery(query));
  return marks.map(([from, to]) => shown.slice(from, to));
};

describe('words inside of words', () => {
  test.each([
    ['부산 여객선 시간표를 확인해 주세요.', '시간표', ['시간표']],
    ['결제모듈은 건드리지 마세요.', '결제', ['결제']],
    ['결제모듈은 건드리지 마세요.', '결제모듈', ['결제모듈']],
    ['한국어문장도검색됩니다', '검색', ['검색']],
    ['한국어문장도검색됩니다', '한국어 검색*', ['한국어', '검색']],
    ['시간표를'.normalize('NFD'), '시간표', ['시간표'.normalize('NFD')]],
    ['시간표를', '시간표'.normalize('NFD'), ['시간표']],
    ['시간표를', '표시', []],
    ['กรุณาตรวจสอบตารางเดินเรือ', 'ตาราง', ['ตาราง']],
    ['ຕາຕະລາງເຮືອ', 'ເຮືອ', ['ເຮືອ']],
    ['តារាងពេលវេលា', 'ពេល', ['ពេល']],
    ['အချိန်ဇယား', 'ဇယား', ['ဇယား']],
    ['東京湾のフェリー時刻表', '時刻表', ['時刻表']],
    ['getUserName failed', 'UserName', ['UserName']],
    ['getUserName failed', 'user', ['User']],
    ['getUserName failed', 'name', ['Name']],
    ['getUserName failed', 'getusername', ['getUserName']],
    ['getUserName failed', 'getUserName', ['getUserName']],
    ['getUserName failed', 'getUser*', ['getUserName']],
    ['getUserName failed', '"getUserName failed"', ['getUserName failed']],
    ['getUserName failed', 'NameUser', []],
    ['getUserName failed', 'sername', []],
    ['getusername failed', 'getUserName', ['getusername']],
    ['a new HTTPServer of XMLHttpRequests', 'server', ['Server']],
    ['a new HTTPServer of XMLHttpRequests', 'http', ['HTTP', 'Http']],
    ['snake_case_name, kebab-case, a.dotted.path', 'case', ['case', 'case']],
    ['snake_case_name, kebab-case, a.dotted.path', 'case_name', ['case_name']],
    ['MAX_RETRY_COUNT', 'retry', ['RETRY']],
    ['utf8 and sha256', '256', ['256']],
    ['utf8 and sha256', 'UTF8', ['utf8']],
    ['see path/to/fileName.ts', 'filename.ts', []],
    ['see path/to/fileName.ts', 'path/to', ['path/to']],
    ['https://example.org/a?b=c1', 'example.org', ['example.org']],
    ['mail ann.lee@example.org', 'lee', ['lee']],
    ['ＦＵＬＬ　ｗｉｄｔｈ', 'full width', ['ＦＵＬＬ', 'ｗｉｄｔｈ']],
    ['Café', 'Cafe\u0301', ['Café']],
    ['Donaudampfschifffahrt', 'dampf', []],
    ['Donaudampfschifffahrt', 'donau*', ['Donaudampfschifffahrt']],
    ['9af3c2d1e5b7', 'af', []],
  ])('in %j, %j marks %j', (text, query, expected) => {
    expect(marked(text, query)).toEqual(expected);
  });

  it('of data are none: of a name of many words or numbers there is only the whole', () => {
    expect(words('toolu01AbCdEfGhIjKlMn')).toEqual(['toolu01abcdefghijklmn']);
    expect(words('a1b2c3d4')).toEqual(['a1b2c3d4']);
  });
});

describe('a query', () => {
  it('has words, phrases, beginnings of words, and what must not be there', () => {
    expect(parseQuery('Refund "Travel Insurance" cancel* -hotel -"no show" block-7')).toEqual([
      { words: ['refund'], name: null, prefix: false, not: false },
      { words: ['travel', 'insurance'], name: null, prefix: false, not: false },
      { words: ['cancel'], name: null, prefix: true, not: false },
      { words: ['hotel'], name: null, prefix: false, not: true },
      { words: ['no', 'show'], name: null, prefix: false, not: true },
      { words: ['block', '7'], name: null, prefix: false, not: false },
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
        // As the text has them: a letter that folds into two is one word, and these may be two.
        const all = cutText(text).words.map(({ from, to }) => text.slice(from, to));
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
