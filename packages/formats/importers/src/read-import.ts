import { fromHex, pack, sha256Hex, type WideJson } from '@stemma/canonical';
import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import type { Author } from '@stemma/events';
import { checkName, historyId, type Command, type Step } from '@stemma/history';
import { importerFor, importerForItems, importerNamed } from './catalogue.ts';
import type { Importer, ImporterOutput, ImportReport, Unit } from './importer.ts';
import { nameOfMessages } from './name-of-messages.ts';
import { readText, type ImportSource, type Reading } from './source.ts';
import { readUnits, type Layout, type UnitOptions } from './units.ts';

/**
 * The output of an import, in order: for each conversation its commands, in the order of their frames, then its report.
 */
export type ImportItem =
  | {
      readonly kind: 'command';
      readonly conversation: number;
      readonly command: Command;
      /** The first command of a conversation once more, under another name, which those after it have too. */
      readonly renamed?: (name: string) => Command;
    }
  | {
      readonly kind: 'report';
      readonly conversation: number;
      readonly history: string;
      readonly name: string | null;
      readonly report: ImportReport;
    }
  | ({ readonly kind: 'refused'; readonly conversation: number } & RefusedConversation);

/** A conversation that cannot be read. */
export type RefusedConversation = {
  /** Its line, its item, or both. */
  readonly place: string;
  readonly error: StemmaError;
};

/** The name of the history of a conversation, or null. */
export type NameConversation = (conversation: {
  readonly index: number;
  /** How many the file holds. */
  readonly count: number;
  /** What the file calls it. */
  readonly title: string | null;
  /** How its first message of a user begins, in a few words that a name may have. */
  readonly words: string | null;
}) => string | null;

export type ImportOptions = {
  /** The name of a format, or `auto` (default). */
  readonly format?: string;
  /** The name of the history; only for files with one conversation. A function names each of them. */
  readonly name?: string | null | NameConversation;
  /** Takes secrets out of a text that becomes a part of a name. */
  readonly redact?: (text: string) => string;
  readonly by?: Author;
  /** Goes on after a conversation that cannot be read, if another one can; by default it refuses the file. */
  readonly partly?: boolean;
  /**
   * Called while the file is read: twice, first to check it, then to map it. A document in memory counts as read at
   * once.
   */
  readonly onProgress?: (phase: 'check' | 'read', bytes: number) => void;
  /**
   * Awaited after each command that the mapping gives, in both readings, also where nothing is read from the file: a
   * caller lets other things happen here, and throws to end the import.
   */
  readonly pause?: () => Promise<void>;
};

/**
 * The commands that record a file, one per cycle. All errors of the file are found before the first command; with `partly`
 * no command is one of a conversation that cannot be read. The same
 * file under the same name gives the same commands with the same ids, so an import can be repeated or resumed (record
 * §3); each command expects the frame before it, so no other frame comes in between unseen.
 *
 * @throws E_FORMAT_UNKNOWN, E_NAME_INVALID, E_USAGE (a name for several conversations), E_INPUT_…, E_ROLE_UNKNOWN,
 *   E_CONTENT_TOO_LARGE, E_EXPORT_INVALID …; E_INPUT_CHANGED when the file changes meanwhile.
 */
export async function* readImport(
  source: ImportSource,
  options: ImportOptions = {},
): AsyncIterable<ImportItem> {
  const { name: given = null } = options;
  if (typeof given === 'string') checkName(given);
  const file = openFile(source, options);
  const { count, refused } = await checkConversations(file);
  const [first] = refused.values();
  if (first !== undefined && (options.partly !== true || refused.size === count)) throw first.error;
  if (typeof given === 'string' && count > 1)
    throw fail(
      'E_USAGE',
      `${source.name} holds ${count} conversations, so they cannot all be called ${given}`,
    );
  const { importer, sha256 } = file.known();
  const by = options.by ?? { recorder: 'import' };
  let { mapping } = importer;
  let conversation = 0;
  let frame = 0;
  let name: string | null = null;
  let history = '';
  const commandOf = (steps: readonly Step[]): Command => {
    const id = `import:${importId(mapping, name, sha256)}:${conversation}:${frame}`;
    if (frame === 0) history = historyId(name, id);
    const expected = frame === 0 ? {} : { expected: frame - 1 };
    return { id, history, branchId: 0, by, ...expected, steps: [...steps] };
  };
  for await (const output of file.outputs('read')) {
    if (output.kind === 'refused') {
      yield { kind: 'refused', conversation, place: output.place, error: output.error };
      conversation += 1;
      continue;
    }
    if (refused.has(conversation)) continue;
    if (output.kind === 'report') {
      yield { kind: 'report', conversation, history, name, report: output.report };
      conversation += 1;
      frame = 0;
      continue;
    }
    const { firstStep, steps, title = null } = output;
    if (firstStep !== null) mapping = output.mapping ?? importer.mapping;
    if (firstStep === null) yield { kind: 'command', conversation, command: commandOf(steps) };
    else {
      const named = (chosen: string | null): Command => {
        name = chosen === null ? null : checkName(chosen);
        return commandOf([firstStep(name, { format: mapping, sha256 }), ...steps]);
      };
      const command = named(
        typeof given === 'function'
          ? given({
              index: conversation,
              count,
              title,
              words: nameOfMessages(insertedBy(steps), options.redact) ?? null,
            })
          : given,
      );
      yield { kind: 'command', conversation, command, renamed: named };
    }
    frame += 1;
  }
  if (file.known().sha256 !== sha256)
    throw fail('E_INPUT_CHANGED', `${source.name} was changed while it was read`);
}

/**
 * The id of an import, in hex: SHA-256 of the canonical msgpack of the list of the mapping, the name or "", and the
 * SHA-256 of the file's bytes. A list, so that no two of them can be confused.
 */
export const importId = (mapping: string, name: string | null, sha256: string): string =>
  sha256Hex(pack([mapping, name ?? '', fromHex(sha256)]));

/** So many lines may stand before the first one that shows the format: a line about the file, for instance. */
const MOST_UNKNOWN = 5;

/** A file that is read once to check it and once more to record it. */
type OpenFile = {
  readonly outputs: (phase: 'check' | 'read') => AsyncIterable<ImporterOutput>;
  /** What the last complete reading found. */
  readonly known: () => { readonly importer: Importer; readonly sha256: string };
};

const openFile = (
  source: ImportSource,
  { format = 'auto', onProgress = () => undefined, pause = () => Promise.resolve() }: ImportOptions,
): OpenFile => {
  const reading: Reading = { bytes: 0, sha256: null };
  let importer: Importer | null = format === 'auto' ? null : importerNamed(format);
  let layout: Layout | null = null;
  let document: Unit | null = null;

  async function* units(phase: 'check' | 'read'): AsyncIterable<Unit> {
    if (document !== null) {
      yield document;
      return;
    }
    const text = readText(source, reading, (bytes) => onProgress(phase, bytes));
    const unitOptions: UnitOptions = {
      onLayout: (found) => (layout = found),
      readsLines: () => importer?.readsLines === true,
      takesItems: (first) => (importer ?? importerForItems(first))?.takesItems?.(first) === true,
    };
    /** Lines before the first one that shows the format, and what is wrong with the first of them. */
    const unknown: Unit[] = [];
    let fault: StemmaError | undefined;
    for await (const unit of readUnits(text, source.name, unitOptions)) {
      try {
        importer ??= importerFor(unit.isItem === true ? [unit.value] : unit.value, source.name);
      } catch (error) {
        if (!isStemmaError(error, 'E_FORMAT_UNKNOWN')) throw error;
        fault ??= error;
        if (layout !== 'lines' || unknown.length >= MOST_UNKNOWN) throw fault;
        unknown.push(unit);
        continue;
      }
      if (fault !== undefined && importer.passesFaults !== true) throw fault;
      yield* unknown.splice(0);
      if (layout === 'document' && unit.isItem !== true) document = unit;
      if (unit.fault !== undefined && importer.passesFaults !== true) throw unit.fault;
      yield unit;
    }
    if (importer === null && fault !== undefined) throw fault;
  }
  async function* outputs(phase: 'check' | 'read'): AsyncIterable<ImporterOutput> {
    const given = units(phase)[Symbol.asyncIterator]();
    try {
      // The first value shows the format, so it is read before the mapping is known.
      const first = await given.next();
      if (importer === null) throw fail('E_INPUT_NOT_JSON', `${source.name} is empty`);
      for await (const output of importer.read(withFirst(first, given))) {
        yield output;
        await pause();
      }
    } finally {
      await given.return?.(undefined);
    }
  }
  return {
    outputs,
    known: () => {
      if (importer === null || reading.sha256 === null)
        throw fail('E_INTERNAL', 'the file has not been read');
      return { importer, sha256: reading.sha256 };
    },
  };
};

async function* withFirst<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncIterable<T> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
}

/** What the steps insert: nodes have the role and the content of messages. */
const insertedBy = (steps: readonly Step[]): readonly WideJson[] =>
  steps.flatMap((step) => (step.op === 'insert' ? [step.node, ...(step.siblings ?? [])] : []));

/** How many conversations there are, and which cannot be read. Runs the whole mapping, for its errors. */
const checkConversations = async (
  file: OpenFile,
): Promise<{ readonly count: number; readonly refused: ReadonlyMap<number, RefusedConversation> }> => {
  const refused = new Map<number, RefusedConversation>();
  let count = 0;
  for await (const output of file.outputs('check')) {
    if (output.kind === 'refused') refused.set(count, output);
    if (output.kind !== 'steps') count += 1;
  }
  return { count, refused };
};
