import { fromHex, pack, sha256Hex, type WideJson } from '@stemma/canonical';
import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import type { Author } from '@stemma/events';
import { checkName, finishOf, historyId, type Command, type Step } from '@stemma/history';
import { importerFor, importerForItems, importerNamed } from './catalogue.ts';
import { STARTING_COMMAND } from './foreign/foreign-importer.ts';
import type { ForeignExchange } from './foreign/item.ts';
import type { Importer, ImporterOutput, ImportReport, MakeFirstStep, Unit } from './importer.ts';
import { nameOfMessages } from './name-of-messages.ts';
import { readText, type ImportSource, type Reading } from './source.ts';
import type { SummaryCounter } from './summary.ts';
import { readUnits, type Layout, type UnitOptions } from './units.ts';

/**
 * The output of an import, in order: for each conversation its commands, in the order of their frames, then its report.
 */
export type ImportItem =
  | {
      readonly kind: 'command';
      readonly conversation: number;
      readonly command: Command;
      /** Of a file that may grow: the number of the command in its history, by which others name its frame. */
      readonly frame?: number;
      /** True if it finishes the call that was started last: of a file that grew, it may be finished already. */
      readonly finishes?: boolean;
      /** The first command of a conversation once more, under another name, which those after it have too. */
      readonly renamed?: (name: string) => Command;
    }
  | {
      readonly kind: 'report';
      readonly conversation: number;
      readonly history: string;
      readonly name: string | null;
      /** The format by its name. */
      readonly format: string;
      readonly report: ImportReport;
    }
  | {
      readonly kind: 'exchange';
      readonly exchange: ForeignExchange;
      /** Of the command that records it: the same for the same bytes, whatever file they stand in. */
      readonly id: string;
      /** Calls of different runs are of different conversations. */
      readonly run: string;
    }
  /** At the end: what the file holds beside its conversations; its calls are counted there by whoever records them. */
  | {
      readonly kind: 'beside';
      readonly format: string;
      readonly mapping: string;
      readonly version: string | undefined;
      readonly summary: SummaryCounter;
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
  /** The file is being written: an answer that may not be whole yet is left for later. */
  readonly mayGrow?: boolean;
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
  const open = new Map<number, OpenConversation>();
  let conversation = 0;
  let run: string | null = null;
  for await (const output of file.outputs('read')) {
    if (output.kind === 'beside') {
      yield { ...output, format: importer.name, mapping: importer.mapping };
      continue;
    }
    if (output.kind === 'exchange') {
      const id = exchangeId(importer.mapping, output);
      run ??= id;
      yield { kind: 'exchange', exchange: output.exchange, id, run: output.run ?? run };
      continue;
    }
    if (output.kind === 'refused') {
      yield { kind: 'refused', conversation, place: output.place, error: output.error };
      conversation += 1;
      continue;
    }
    const number = output.conversation ?? conversation;
    if (refused.has(number)) continue;
    const current = open.get(number) ?? newConversation(importer, by, number, sha256);
    open.set(number, current);
    if (output.kind === 'report') {
      const { history, name } = current.about();
      yield {
        kind: 'report',
        conversation: number,
        history,
        name,
        format: importer.name,
        report: output.report,
      };
      open.delete(number);
      if (output.conversation === undefined) conversation += 1;
      continue;
    }
    const { firstStep, title = null } = output;
    const frame = importer.grows === true ? { frame: current.frame() } : {};
    if (firstStep === null)
      yield {
        ...{ kind: 'command', conversation: number, command: current.next(output), ...frame },
        ...(output.finishes === true && { finishes: true }),
      };
    else {
      const named = (chosen: string | null): Command => current.first(output, firstStep, chosen);
      const words = nameOfMessages(insertedBy(output.steps), options.redact) ?? null;
      const chosen =
        typeof given === 'function' ? given({ index: number, count, title, words: words ?? null }) : given;
      yield { kind: 'command', conversation: number, command: named(chosen), renamed: named, ...frame };
    }
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

/** What stands for the bytes of its file where a conversation is known by its key: the file may grow. In hex. */
export const sourceOfConversation = (mapping: string, key: string): string => sha256Hex(pack([mapping, key]));

type StepsOutput = Extract<ImporterOutput, { readonly kind: 'steps' }>;

/** A conversation whose commands are made. */
type OpenConversation = {
  readonly about: () => { readonly history: string; readonly name: string | null };
  /** The number of the next command. */
  readonly frame: () => number;
  /** Its first command under this name; what it was called before does not count. */
  readonly first: (output: StepsOutput, firstStep: MakeFirstStep, name: string | null) => Command;
  readonly next: (output: StepsOutput) => Command;
};

const newConversation = (
  importer: Importer,
  by: Author,
  number: number,
  sha256: string,
): OpenConversation => {
  const state = {
    name: null as string | null,
    history: '',
    frame: 0,
    /** What tells this import from others, in front of the number of a command. */
    id: '',
    /** Of a file that may grow: a hash of all commands so far. */
    before: '',
    /** The command that started the last call. */
    started: '',
  };
  const idOf = (steps: readonly Step[]): string => {
    if (importer.grows !== true) return `import:${state.id}:${number}:${state.frame}`;
    state.before = sha256Hex(pack([state.before, canonicalSteps(steps)])).slice(0, 32);
    return `import:${state.id}:${state.frame}:${state.before}`;
  };
  return {
    about: () => ({ history: state.history, name: state.name }),
    frame: () => state.frame,
    first({ mapping = importer.mapping, key, steps }, firstStep, name) {
      state.name = name === null ? null : checkName(name);
      // Of a file that grows, its bytes are others each time.
      const source = key === undefined ? sha256 : sourceOfConversation(mapping, key);
      state.id = importId(mapping, state.name, source);
      state.before = '';
      state.frame = 0;
      const all = [firstStep(state.name, { format: mapping, sha256: source }), ...steps];
      const id = idOf(all);
      state.history = historyId(state.name, id);
      state.frame = 1;
      return { id, history: state.history, branchId: 0, by, steps: all };
    },
    next({ steps, branch = 0, finishes = false }) {
      const id = finishes ? finishOf(state.started) : idOf(steps);
      const expected = importer.grows === true ? {} : { expected: state.frame - 1 };
      state.frame += 1;
      if (steps.some(({ op }) => op === 'start_call')) state.started = id;
      const own = steps.map((step) =>
        step.op === 'finish_call' && step.attemptId === STARTING_COMMAND
          ? { ...step, attemptId: state.started }
          : step,
      );
      return { id, history: state.history, branchId: branch, by, ...expected, steps: own };
    },
  };
};

/** Steps as text: the same for the same steps. */
const canonicalSteps = (steps: readonly Step[]): string =>
  JSON.stringify(steps, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));

/** The id of a call that holds its whole input: the same call in another file, or in one that grew, is the same one. */
const exchangeId = (
  mapping: string,
  { exchange, run }: Extract<ImporterOutput, { kind: 'exchange' }>,
): string => {
  const { request, end, id } = exchange;
  const parts = [mapping, run ?? '', id, digestOf(request), end === null ? '' : digestOf(end.response)];
  return `import:${sha256Hex(pack(parts))}`;
};

const digestOf = (
  said: ForeignExchange['request'] | NonNullable<ForeignExchange['end']>['response'],
): string =>
  said === null
    ? ''
    : said.form === 'wire'
      ? sha256Hex(said.body)
      : sha256Hex(
          Buffer.from(
            JSON.stringify(said, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)),
          ),
        );

/** So many lines may stand before the first one that shows the format: a line about the file, for instance. */
const MOST_UNKNOWN = 20;

/** A file that is read once to check it and once more to record it. */
type OpenFile = {
  readonly outputs: (phase: 'check' | 'read') => AsyncIterable<ImporterOutput>;
  /** What the last complete reading found. */
  readonly known: () => { readonly importer: Importer; readonly sha256: string };
};

const openFile = (
  source: ImportSource,
  {
    format = 'auto',
    mayGrow = false,
    onProgress = () => undefined,
    pause = () => Promise.resolve(),
  }: ImportOptions,
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
      for await (const output of importer.read(withFirst(first, given), { mayGrow })) {
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
    if (output.kind === 'refused' || output.kind === 'report') count += 1;
  }
  return { count, refused };
};
