import { parseWideJson, isJsonObject, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { jsonText } from '@stemma/model-apis';
import { listOf } from '../fields.ts';
import { listZipEntries, readZipEntry, type RandomAccess, type ZipEntry } from '../zip-entries.ts';

/** The most bytes of a sample, whose text is held in memory. */
const MOST_SAMPLE = 256 * 1024 * 1024;

const HEAD = 'header.json';
/** The head of a log that was not finished. */
const START = '_journal/start.json';

/** True for the entries of an archive of Inspect. */
export const isEvalArchive = (entries: readonly ZipEntry[]): boolean =>
  entries.some(({ name }) => name === HEAD || name === START);

/**
 * An archive of Inspect (`.eval`) as JSON lines, in UTF-8: its head, then a line a sample, in the order of the archive. One entry is held in
 * memory at a time. A chunked sample becomes one of the usual form.
 *
 * @throws E_INPUT_SHAPE for an archive that is none of Inspect, E_INPUT_TOO_LARGE, E_INPUT_TRUNCATED
 */
export async function* evalLines(file: RandomAccess): AsyncIterable<Uint8Array> {
  const entries = await listZipEntries(file);
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const head = byName.get(HEAD) ?? byName.get(START);
  if (head === undefined) throw fail('E_INPUT_SHAPE', `${file.name} is an archive that holds no transcript`);
  yield line(await readZipEntry(file, head, MOST_SAMPLE));
  for (const entry of entries) {
    const [, name = ''] = /^samples\/(.+_epoch_[0-9]+)\.json$/u.exec(entry.name) ?? [];
    const [, chunked] = /^samples\/(.+)\/sample\.json$/u.exec(entry.name) ?? [];
    if (name !== '') yield line(await readZipEntry(file, entry, MOST_SAMPLE));
    else if (chunked !== undefined && !byName.has(`samples/${chunked}.json`))
      yield Buffer.from(`${jsonText(await wholeSample(file, entries, chunked))}\n`);
  }
}

/** White space between the values of a JSON text may hold line ends; its texts hold none. */
const line = (bytes: Uint8Array): Uint8Array => {
  const copy = new Uint8Array(bytes.length + 1);
  copy.set(bytes);
  for (let i = 0; i < bytes.length; i++) if (copy[i] === 10 || copy[i] === 13) copy[i] = 32;
  copy[bytes.length] = 10;
  return copy;
};

const SEQUENCES = ['messages', 'events', 'attachments'] as const;

/** A sample whose lists lie in chunks, which are named by the number of their first item. */
const wholeSample = async (
  file: RandomAccess,
  entries: readonly ZipEntry[],
  sample: string,
): Promise<WideJson> => {
  const folder = `samples/${sample}/`;
  const own = entries.filter(({ name }) => name.startsWith(folder));
  if (own.reduce((sum, { size }) => sum + size, 0) > MOST_SAMPLE)
    throw fail(
      'E_INPUT_TOO_LARGE',
      `the sample ${sample} in ${file.name} has more than ${MOST_SAMPLE} bytes`,
    );
  let left = MOST_SAMPLE;
  const read = async (entry: ZipEntry): Promise<WideJson> => {
    const bytes = await readZipEntry(file, entry, left);
    left -= bytes.length;
    return parseWideJson(new TextDecoder('utf-8', { fatal: false }).decode(bytes));
  };
  const listAt = async (sequence: string): Promise<readonly WideJson[]> => {
    const chunks = own.flatMap((entry) => {
      const [, start] = /^([0-9]{1,15})\.json$/u.exec(entry.name.slice(`${folder}${sequence}/`.length)) ?? [];
      return start !== undefined && entry.name.startsWith(`${folder}${sequence}/`)
        ? [{ entry, start: Number(start) }]
        : [];
    });
    const items: WideJson[] = [];
    for (const { entry } of chunks.sort((a, b) => a.start - b.start))
      for (const item of listOf(await read(entry))) items.push(item);
    return items;
  };
  const shell = own.find(({ name }) => name === `${folder}sample.json`);
  const said = shell === undefined ? {} : await read(shell);
  const [messages, events, attachments] = [
    await listAt(SEQUENCES[0]),
    await listAt(SEQUENCES[1]),
    await listAt(SEQUENCES[2]),
  ];
  return {
    ...(isJsonObject(said) ? said : {}),
    events,
    attachments,
    events_data: { messages, calls: [] },
  };
};
