import type { WideJson } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { ForeignCall, ForeignExchange, ForeignItem, ForeignMessage } from '../../src/foreign/item.ts';
import type { ForeignReader } from '../../src/foreign/reader.ts';
import type { Unit } from '../../src/importer.ts';
import { readUnits } from '../../src/units.ts';

const unitsOf = async (reader: ForeignReader, text: string): Promise<readonly Unit[]> => {
  async function* pieces() {
    for (let at = 0; at < text.length; at += 4096) yield text.slice(at, at + 4096);
  }
  const units: Unit[] = [];
  const options = {
    onLayout: () => undefined,
    takesItems: (first: WideJson) => reader.takesItems?.(first) === true,
  };
  for await (const unit of readUnits(pieces(), 'the file', options)) units.push(unit);
  return units;
};

/** True if one of the first 20 values of a text is recognised. */
export const isRecognised = async (reader: ForeignReader, text: string): Promise<boolean> =>
  (await unitsOf(reader, text))
    .slice(0, 20)
    .some(
      ({ value, fault, isItem }) =>
        fault === undefined && reader.recognises(isItem === true ? [value] : value),
    );

/** What a reader gives for a text, which it recognises. */
export const itemsOf = async (reader: ForeignReader, text: string): Promise<readonly ForeignItem[]> => {
  expect(await isRecognised(reader, text)).toBe(true);
  return readItems(reader, await unitsOf(reader, text));
};

const readItems = async (reader: ForeignReader, units: readonly Unit[]): Promise<readonly ForeignItem[]> => {
  async function* given() {
    yield* units;
  }
  const items: ForeignItem[] = [];
  for await (const item of reader.read(given())) items.push(item);
  return items;
};

export const callsIn = (items: readonly ForeignItem[]): readonly ForeignCall[] =>
  items.filter((item) => item.kind === 'call');

export const messagesIn = (items: readonly ForeignItem[]): readonly ForeignMessage[] =>
  items.filter((item) => item.kind === 'message');

export const exchangesIn = (items: readonly ForeignItem[]): readonly ForeignExchange[] =>
  items.filter((item) => item.kind === 'exchange');

/** How often each kind of thing was dropped or warned of, by its name. */
export const namedIn = (items: readonly ForeignItem[]): { readonly [name: string]: number } => {
  const named: { [name: string]: number } = {};
  for (const item of items) {
    const name = item.kind === 'dropped' ? item.what : item.kind === 'warning' ? item.code : undefined;
    if (name === undefined) continue;
    named[name] = (named[name] ?? 0) + ((item.kind === 'dropped' ? item.count : undefined) ?? 1);
  }
  return named;
};

/** What stands where a value of another type is expected. */
const WRONG: readonly unknown[] = [
  null,
  true,
  -1,
  1e300,
  12_345_678_901_234_567n,
  '',
  'x',
  [],
  {},
  [[]],
  [null],
  { role: 7 },
];

/** The value with one value in it replaced, of which the path chooses. */
const damaged = (value: unknown, path: readonly number[], wrong: unknown): unknown => {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return wrong;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(keys.length, 1)];
  if (key === undefined) return wrong;
  if (Array.isArray(value))
    return value.map((item: unknown, at) => (String(at) === key ? damaged(item, rest, wrong) : item));
  const fields = value as { readonly [key: string]: unknown };
  return { ...fields, [key]: damaged(fields[key], rest, wrong) };
};

const unit = (value: WideJson, line: number): Unit => ({ where: `line ${line}`, text: '', value, line });

/**
 * Reads the values of a file with anything in them replaced by what does not belong there: it gives items or a coded error,
 * never another one, and twice the same.
 */
export const survivesDamage = async (reader: ForeignReader, values: readonly unknown[]): Promise<void> => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(12), { minLength: 1, maxLength: 9 }),
      fc.constantFrom(...WRONG),
      async (path, wrong) => {
        const units = (damaged(values, path, wrong) as readonly WideJson[] | null) ?? [];
        const given = (Array.isArray(units) ? units : [units]).map((value: WideJson, at) =>
          unit(value, at + 1),
        );
        const outcome = async (): Promise<unknown> => {
          for (const { value } of given) reader.recognises(value);
          try {
            return await readItems(reader, given);
          } catch (error) {
            if (!isStemmaError(error)) throw error;
            return error.code;
          }
        };
        expect(await outcome()).toEqual(await outcome());
      },
    ),
  );
};
