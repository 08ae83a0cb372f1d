import type { WideJson } from '@stemma/canonical';
import type { Unit } from './importer.ts';
import { parseYaml, tooLarge, MAX_YAML } from './yaml.ts';

/** A shorter document is parsed whole, so that its parts may repeat each other. */
const MAX_WHOLE = 4 * 1024 * 1024;

/** The line before the items of a cassette. */
const LIST = /^(http_)?interactions:\s*$/;

/**
 * The values of a text of YAML. A short one is one document. Of a longer one each item of `interactions` is a document of its own, as if
 * the others were not there, and what stands beside them is the last: only one item is held in memory.
 *
 * @throws what `parseYaml` does
 */
export async function* yamlUnits(pieces: AsyncIterable<string>, name: string): AsyncIterable<Unit> {
  const parts: string[] = [];
  let length = 0;
  let items: ItemReader | null = null;
  for await (const piece of pieces) {
    if (items !== null) {
      yield* items.add(piece);
      continue;
    }
    parts.push(piece);
    length += piece.length;
    if (length <= MAX_WHOLE) continue;
    items = openItems(name);
    for (const part of parts.splice(0)) yield* items.add(part);
  }
  if (items === null) yield unit(name, 0, parseYaml(parts.join(''), name));
  else yield* items.end();
}

const unit = (where: string, line: number, value: WideJson): Unit => ({ where, text: '', value, line });

type ItemReader = {
  readonly add: (piece: string) => Iterable<Unit>;
  readonly end: () => Iterable<Unit>;
};

const openItems = (name: string): ItemReader => {
  /** The end of the text so far, which may go on in its line. */
  let rest = '';
  let number = 0;
  /** What stands beside the list. */
  const beside: string[] = [];
  let list: string | null = null;
  /** The beginning of a line that begins an item. */
  let mark: string | null = null;
  let item: string[] = [];
  let from = 0;
  let size = 0;
  function* flush(): Iterable<Unit> {
    if (item.length === 0) return;
    const text = `${list ?? ''}\n${item.join('\n')}\n`;
    item = [];
    size = 0;
    yield unit(`line ${from}`, from, parseYaml(text, `the interaction in line ${from} of ${name}`));
  }
  function* line(text: string): Iterable<Unit> {
    number += 1;
    size += text.length;
    if (size > MAX_YAML) throw tooLarge(name);
    if (list === null || mark === '') {
      beside.push(text);
      if (list === null && LIST.test(text)) [list, size] = [beside.pop() ?? null, 0];
      return;
    }
    mark ??= /^ *- /.exec(text)?.[0] ?? null;
    const isTop = /^[^\s#-]/.test(text);
    if (isTop || (mark !== null && text.startsWith(mark))) yield* flush();
    if (isTop) {
      mark = '';
      beside.push(text);
      return;
    }
    if (item.length === 0) from = number;
    item.push(text);
  }
  return {
    *add(piece) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_YAML) throw tooLarge(name);
      for (const text of lines) yield* line(text);
    },
    *end() {
      if (rest !== '') yield* line(rest);
      yield* flush();
      // Another document than a cassette, or what a cassette says of itself.
      if (list === null || beside.some((text) => text.trim() !== '' && text.trim() !== '---'))
        yield unit(name, number, parseYaml(beside.join('\n'), name));
    },
  };
};
