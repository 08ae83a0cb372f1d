import { isStemmaError } from '@stemma/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collect, fetching, isMissing, missing, missingKind, resume, type Attempt } from '../src/index.ts';

const NUMBERS = missingKind<number>('numbers');
const TEXTS = missingKind<{ readonly text: string }>('texts', ({ text }) => text);

/** Values that are had only after they were fetched, and every fetch that was made. */
const away = () => {
  const atHand = new Set<number | string>();
  const fetches: (readonly (number | string)[])[] = [];
  const fetch = (keys: readonly (number | string)[]): void => {
    fetches.push(keys);
    for (const key of keys) atHand.add(key);
  };
  return {
    fetches,
    number: (key: number): number => {
      if (!atHand.has(key)) throw missing(NUMBERS, [key]);
      return key * 7;
    },
    text: (text: string): string => {
      if (!atHand.has(text)) throw missing(TEXTS, [{ text }]);
      return `${text}!`;
    },
    numbers: fetching(NUMBERS, async (needs) => fetch(needs)),
    texts: fetching(TEXTS, (needs) => fetch(needs.map(({ text }) => text))),
  };
};

const errorOf = (fn: () => unknown): unknown => {
  try {
    return fn();
  } catch (error) {
    return error;
  }
};
const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

type Question = { readonly number: number } | { readonly text: string } | { readonly fault: string };
const question = fc.oneof(
  { weight: 5, arbitrary: fc.record({ number: fc.integer({ min: 0, max: 9 }) }) },
  { weight: 5, arbitrary: fc.record({ text: fc.constantFrom('a', 'b', 'c') }) },
  { weight: 1, arbitrary: fc.record({ fault: fc.constantFrom('x', 'y') }) },
);

/** Answers one question after the other, or throws what the first faulty one says. */
const answer = (asked: Question, number: (key: number) => number, text: (key: string) => string): unknown => {
  if ('fault' in asked) throw new RangeError(asked.fault);
  return 'number' in asked ? number(asked.number) : text(asked.text);
};
const atOnce = (questions: readonly Question[]): unknown =>
  errorOf(() =>
    questions.map((asked) =>
      answer(
        asked,
        (key) => key * 7,
        (key) => `${key}!`,
      ),
    ),
  );
const distinct = (questions: readonly Question[]): number =>
  new Set(questions.map((asked) => JSON.stringify(asked))).size;

describe('a function that is resumed', () => {
  it('returns or throws what it does with everything at hand, in at most as many rounds as there are distinct needs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(question, { maxLength: 30 }), async (questions) => {
        const { number, text, numbers, texts, fetches } = away();
        const asked = resume(() => questions.map((each) => answer(each, number, text)), numbers, texts);
        expect(await caught(asked)).toEqual(atOnce(questions));
        expect(fetches.length).toBeLessThanOrEqual(distinct(questions));
      }),
    );
  });

  it('needs one round for each kind when it collects what is missing, up to the first error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(question, { maxLength: 30 }), async (questions) => {
        const { number, text, numbers, texts, fetches } = away();
        const run = (attempt: Attempt): unknown[] =>
          questions.map((each) => attempt((one: Question) => answer(one, number, text), each, undefined));
        expect(await caught(resume(() => collect(run), numbers, texts))).toEqual(atOnce(questions));
        expect(fetches.length).toBeLessThanOrEqual(2);
      }),
    );
  });

  it('may be asynchronous', async () => {
    const { number, numbers } = away();
    expect(await resume(async () => number(await Promise.resolve(3)), numbers)).toBe(21);
  });

  it('is called once when it lacks nothing', async () => {
    let calls = 0;
    expect(await resume(() => ++calls)).toBe(1);
  });

  it('gives a fetcher each need once, however often it is asked for', async () => {
    const { number, text, numbers, texts, fetches } = away();
    await resume(
      () => collect((attempt) => [text('a'), [1, 1, 2].map((key) => attempt(number, key, 0))]),
      numbers,
      texts,
    );
    expect(fetches).toEqual([['a'], [1, 2]]);
  });

  it('passes a kind without a fetcher here to a fetcher outside', async () => {
    const { number, text, numbers, texts, fetches } = away();
    const inner = (): Promise<string> => resume(() => `${text('a')}${number(1)}`, texts);
    expect(isMissing(await caught(inner()), NUMBERS)).toBe(true);
    expect(await resume(inner, numbers)).toBe('a!7');
    expect(fetches).toEqual([['a'], [1]]);
  });

  it('tells two kinds of the same name apart', async () => {
    const other = fetching(missingKind<number>('numbers'), () => undefined);
    const error = await caught(resume(() => away().number(1), other));
    expect(isMissing(error, NUMBERS)).toBe(true);
  });

  it('ends with E_INTERNAL when everything that it asks for was fetched before, at once or in turns', async () => {
    const nothing = fetching(TEXTS, () => undefined);
    for (const asked of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      let calls = 0;
      const fn = (): never => {
        throw missing(TEXTS, [{ text: asked[calls++ % asked.length] as string }]);
      };
      const error = await caught(resume(fn, nothing));
      expect(isStemmaError(error, 'E_INTERNAL') && error.message).toBe(
        'texts were fetched and are still missing',
      );
      expect(calls).toBe(asked.length + 1);
    }
  });

  it('ends with the error of a fetch that fails', async () => {
    const gone = new Error('gone');
    const failing = fetching(NUMBERS, () => Promise.reject(gone));
    expect(await caught(resume(() => away().number(1), failing))).toBe(gone);
  });
});

describe('what is collected', () => {
  it('is of the kind that was met first, the needs of a signal that no attempt caught included', () => {
    const { number, text } = away();
    const run = (attempt: Attempt): number => {
      expect(attempt(number, 1, 'nothing')).toBe('nothing');
      attempt(text, 'a', '');
      return number(2);
    };
    const error = errorOf(() => collect(run));
    expect(isMissing(error, NUMBERS) && error.needs).toEqual([1, 2]);
    expect(isMissing(error, TEXTS)).toBe(false);
    expect(String(error)).toBe('Missing: numbers must be fetched first');
  });

  it('is asked for before an error that a stand-in may have caused is thrown', () => {
    const error = errorOf(() =>
      collect((attempt) => {
        if (attempt(away().number, 1, 0) === 0) throw new RangeError('not a number of ours');
      }),
    );
    expect(isMissing(error, NUMBERS) && error.needs).toEqual([1]);
  });

  it('is nothing where nothing is missing: results and errors are those of the function', () => {
    const fault = new RangeError('a fault');
    expect(collect((attempt) => attempt((key: number) => key + 1, 1, 0))).toBe(2);
    const failing = (): never => {
      throw fault;
    };
    expect(errorOf(() => collect((attempt) => attempt(failing, 1, 0)))).toBe(fault);
    expect(errorOf(() => collect(failing))).toBe(fault);
  });
});

it('a signal is told from errors', () => {
  expect([isMissing(missing(NUMBERS, [1])), isMissing(new Error('other')), isMissing(null)]).toEqual([
    true,
    false,
    false,
  ]);
});
