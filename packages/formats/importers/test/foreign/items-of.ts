import { parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type {
  ForeignExchange,
  ForeignItem,
  ForeignSaidAnswer,
  ForeignSaidRequest,
} from '../../src/foreign/item.ts';
import type { ForeignReader } from '../../src/foreign/reader.ts';
import type { Unit } from '../../src/importer.ts';

/** What a reader gives for a file with these lines. One that is no JSON is a unit with its fault, as in a file. */
export const itemsOfLines = async (
  reader: ForeignReader,
  lines: readonly string[],
): Promise<ForeignItem[]> => {
  async function* units(): AsyncIterable<Unit> {
    for (const [i, text] of lines.entries()) {
      const [where, line] = [`line ${i + 1}`, i + 1];
      let value: WideJson;
      try {
        value = parseWideJson(text, where);
      } catch {
        yield { where, text: '', value: null, line, fault: fail('E_INPUT_NOT_JSON', `${where} is no JSON`) };
        continue;
      }
      yield { where, text, value, line };
    }
  }
  const items: ForeignItem[] = [];
  for await (const item of reader.read(units())) items.push(item);
  return items;
};

/** What a reader gives for a file with these values, one a line. */
export const itemsOf = (reader: ForeignReader, ...values: readonly unknown[]): Promise<ForeignItem[]> =>
  itemsOfLines(
    reader,
    values.map((value) => JSON.stringify(value)),
  );

/** A call as tests compare it. */
export type SaidCall = {
  readonly run: string | null;
  readonly request: ForeignSaidRequest;
  readonly response: ForeignSaidAnswer;
  readonly exchange: ForeignExchange;
};

export const callsIn = (items: readonly ForeignItem[]): SaidCall[] => {
  let run: string | null = null;
  return items.flatMap((item) => {
    if (item.kind === 'conversation') run = item.key;
    if (item.kind !== 'exchange') return [];
    const response = item.end?.response;
    if (item.request.form !== 'said' || response?.form !== 'said') throw new Error('it is not said');
    return [{ run, request: item.request, response, exchange: item }];
  });
};

/** The text of a message, whether its content is one, or a list of parts. */
export const textOfMessage = ({ content }: WideJsonObject): string =>
  Array.isArray(content)
    ? content.map((part: { text?: string }) => part.text ?? '').join('')
    : typeof content === 'string'
      ? content
      : '';

/** A message as tests compare it: role, text, calls, the call that it answers. */
export const plainMessage = (message: WideJsonObject): unknown => ({
  role: message['role'],
  text: textOfMessage(message),
  calls: ((message['tool_calls'] ?? []) as readonly WideJsonObject[]).map((call) => {
    const { name, arguments: input } = call['function'] as { name: string; arguments: string };
    return { id: call['id'], name, input: JSON.parse(input) as unknown };
  }),
  ...(message['role'] === 'tool' && { answers: message['tool_call_id'] }),
});

export const droppedIn = (items: readonly ForeignItem[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    items.flatMap((item) => (item.kind === 'dropped' ? [[item.what, item.count ?? 1] as const] : [])),
  );

export const warningsIn = (items: readonly ForeignItem[]): readonly string[] =>
  items.flatMap((item) => (item.kind === 'warning' ? [`${item.code} ${item.where}`] : []));
