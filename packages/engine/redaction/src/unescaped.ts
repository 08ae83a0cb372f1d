/** An escape of JSON that can stand inside of a secret: a secret behind it looks like none. */
const HIDING = /\\(?:u00[2-7][0-9a-f]|\/)/i;

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;

const NAMED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Texts in texts in texts: nobody escapes more often. */
const MOST_LEVELS = 8;

/** What a text says with its escapes undone once, twice and so on, where they could hide something: `\u0073k-…` is `sk-…`. */
export function* unescaped(text: string): Generator<string> {
  let view = text;
  for (let level = 0; level < MOST_LEVELS && HIDING.test(view); level++) {
    view = view.replace(ESCAPE, (_, code: string | undefined, letter: string | undefined) =>
      code === undefined
        ? (NAMED[letter ?? ''] ?? letter ?? '')
        : String.fromCharCode(Number.parseInt(code, 16)),
    );
    yield view;
  }
}
