/**
 * The value of a JSON text, for the few texts that `JSON.parse` of V8 13.6 (Node 24) reads wrongly: after an object
 * with the keys "a" and "\n", it returns the second key of {"a":1,"\"":2} as a backslash. Remove this file when V8 is
 * fixed.
 */
export const readJson = (text: string, number: (source: string) => unknown): unknown => {
  const reader = new Reader(text, number);
  const value = reader.value();
  reader.end();
  return value;
};

/** True if the text may have a key that is a single escape: the condition of the fault. */
export const hasEscapedKey = (text: string): boolean => /"\\(?:u[\da-fA-F]{4}|[^u])"[ \t\n\r]*:/.test(text);

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const TEXT = /"(?:[^"\\]|\\.)*"/sy;
const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

/** The depth was checked before, so it may recurse. */
class Reader {
  readonly #text: string;
  readonly #number: (source: string) => unknown;
  #at = 0;

  constructor(text: string, number: (source: string) => unknown) {
    this.#text = text;
    this.#number = number;
  }

  value(): unknown {
    this.#take(SPACE);
    const head = this.#text[this.#at];
    if (head === '{') return this.#object();
    if (head === '[') return this.#list();
    if (head === '"') return this.#string();
    for (const [word, value] of WORDS) if (this.#skip(word)) return value;
    const source = this.#take(NUMBER);
    if (source === '') throw this.#wrong();
    return this.#number(source);
  }

  end(): void {
    this.#take(SPACE);
    if (this.#at !== this.#text.length) throw this.#wrong();
  }

  #object(): object {
    const object: Record<string, unknown> = {};
    this.#at++;
    if (this.#next('}')) return object;
    do {
      this.#take(SPACE);
      const key = this.#string();
      if (!this.#next(':')) throw this.#wrong();
      // As JSON.parse does: `__proto__` becomes a key like any other.
      Object.defineProperty(object, key, {
        value: this.value(),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    } while (this.#next(','));
    if (!this.#next('}')) throw this.#wrong();
    return object;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    if (this.#next(']')) return list;
    do list.push(this.value());
    while (this.#next(','));
    if (!this.#next(']')) throw this.#wrong();
    return list;
  }

  #string(): string {
    const source = this.#take(TEXT);
    if (source === '') throw this.#wrong();
    return JSON.parse(source) as string;
  }

  #next(token: string): boolean {
    this.#take(SPACE);
    return this.#skip(token);
  }

  #skip(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #wrong(): SyntaxError {
    const what = this.#at >= this.#text.length ? 'Unexpected end of JSON input' : 'Unexpected token';
    return new SyntaxError(`${what} at position ${this.#at}`);
  }
}
