import { openHome } from '@stemma/home';
import { stagesDocument } from '@stemma/queries';
import { printPlain, type ExactJson } from '@stemma/stages';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';
import { someTranscripts } from './transcripts.ts';

const SAMPLE = join(import.meta.dirname, '../../../samples/harbour-tram.chat.json');
/** The transcripts that lie beside the checkout, else the sample. */
const FILES = someTranscripts.length === 0 ? [SAMPLE] : someTranscripts.map(({ file }) => file);

type Hashes = { readonly node_hash: string; readonly z1: string; readonly z2: string; readonly z3: string };
type Document = {
  readonly hashes: Hashes;
  readonly compiler: { readonly stages: Readonly<Record<string, unknown>> };
};
type Imported = { readonly imported: readonly { readonly history: string; readonly cycles: number }[] };

const importAll = async (folder: string, files: readonly string[]): Promise<Imported['imported']> =>
  ((await stemmaJson(['import', ...files, '--home', folder])) as Imported).imported;

const output = async (...args: string[]): Promise<string> => {
  const { stdout, code, stderr } = await runStemma(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

/** Long pieces of every text in a value, wherever it lies. */
const piecesOf = (value: unknown): string[] => {
  if (typeof value === 'string') {
    if (value.length < 24) return [];
    const at = [0, Math.floor((value.length - 24) / 2), value.length - 24];
    return at.map((start) => JSON.stringify(value.slice(start, start + 24)).slice(1, -1));
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(piecesOf) : [];
};

test(
  'no stage of any transcript holds text of a message or tool result, in either profile, except a requested preview',
  { tags: ['compiler-stages:safety'], timeout: 600_000 },
  async () => {
    using folder = temporaryFolder();
    const imported = await importAll(folder.path, FILES);
    const home = await openHome({ directory: folder.path });
    const summary = { text: 'words of a prompt' };
    const config = { header: { mode: 'sanitized_content' }, prompt_summary: summary };
    let shown = 0;
    try {
      for (const [i, { history, cycles }] of imported.entries()) {
        const messages: unknown = JSON.parse(readFileSync(FILES[i] as string, 'utf8'));
        const pieces = [...new Set(piecesOf(messages))].filter((piece) => !piece.startsWith('call_'));
        const heldBy = (document: object): string[] => {
          const text = printPlain(document as ExactJson);
          return pieces.filter((piece) => text.includes(piece));
        };
        const branchRef = await home.find(history);
        const [now, middle] = [
          await home.position(branchRef),
          await home.position(branchRef, `@c${Math.ceil(cycles / 2)}`),
        ];
        const view = { stage: 'HEADER', includePreviews: false } as const;
        const opted = await home.queries.stages.compile(now, { config });
        const { RAW, FROZEN, HEADER } = opted.compiler.stages;
        for (const safe of [
          stagesDocument(await home.queries.stages.compile(now)),
          stagesDocument(await home.queries.stages.compile(middle, { profile: 'breadboard-0.1' })),
          await home.queries.stages.tree(now, view),
          await home.queries.stages.diff(middle, now),
          await home.queries.stages.stream(now, { offset: 0, limit: 1_000 }),
          RAW,
          FROZEN,
        ])
          expect(heldBy(safe)).toEqual([]);
        expect(printPlain(RAW)).not.toContain(summary.text);
        shown += heldBy(HEADER).length;
      }
    } finally {
      await home.close();
    }
    expect(shown).toBeGreaterThan(0);
  },
);

test(
  'no payload of any transcript holds a time or a generated id; another home at another time gives the same hashes, and so does compiling the event log',
  { tags: ['compiler-stages:our-stream', 'compiler-stages:stages-of-cycles'], timeout: 600_000 },
  async () => {
    using first = temporaryFolder();
    using second = temporaryFolder();
    // One trial of each task: every message of a task's trials has the same form.
    const files = FILES.filter((file) => !/trial-[1-9]/.test(file));
    const imported = await importAll(first.path, files);
    const again = await importAll(second.path, [...files].reverse());
    for (const [i, { history, cycles }] of imported.entries()) {
      const other = again[again.length - 1 - i]!.history;
      for (const ref of [`@c${Math.ceil(cycles / 2)}`, `@c${cycles}`]) {
        const [a, b] = (await Promise.all(
          [
            [history, first.path],
            [other, second.path],
          ].map(([name = '', home = '']) => stemmaJson(['stages', name, ref, '--home', home])),
        )) as [Document, Document];
        expect(b.hashes).toEqual(a.hashes);
        expect(b.compiler.stages).toEqual(a.compiler.stages);
      }
      const log = await output('stages', 'events', history, `@c${cycles}`, '--home', first.path);
      const exported = JSON.parse(
        await output('export', history, `@c${cycles}`, '--home', first.path),
      ) as unknown;
      const { ids, times } = namesIn(exported);
      const payloads = log
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((branchRef) => JSON.stringify((JSON.parse(branchRef) as { payload: unknown }).payload));
      for (const payload of payloads)
        expect([...ids, ...times, history].filter((name) => payload.includes(name))).toEqual([]);
      const file = join(first.path, 'events.jsonl');
      writeFileSync(file, log);
      const compiled = (await stemmaJson(['stages', 'compile', file, '--profile', 'stemma-1'])) as Document;
      const { hashes } = (await stemmaJson([
        'stages',
        history,
        `@c${cycles}`,
        '--home',
        first.path,
      ])) as Document;
      expect(compiled.hashes).toEqual(hashes);
    }
    const replayed = await stemmaJson([
      ...['replay', '--verify', '--batches', '1,7,1000', '--stops', '--home', first.path],
    ]);
    expect(replayed).toMatchObject({ differences: 0 });
  },
);

/** Ids that Stemma made (long ones: an importer's are short) and the times that its clock gave. */
const namesIn = (value: unknown): { ids: string[]; times: string[] } => {
  const found = { ids: [] as string[], times: [] as string[] };
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { id, created_at_ns: at, created_at_iso: iso } = node as Record<string, unknown>;
    if (typeof id === 'string' && id.length > 8) found.ids.push(id);
    // What an import gives in place of a time is a count: only a clock's is long.
    if (typeof at === 'number' && at > 1e12) found.times.push(String(at).slice(0, 13));
    if (typeof iso === 'string') found.times.push(iso.slice(0, 19));
    // What was recorded is the provider's: only headers are ours.
    for (const [key, each] of Object.entries(node)) if (!/^(content|data_)/.test(key)) walk(each);
  };
  walk(value);
  return found;
};

test(
  'a comparison names the stages that differ between two positions with the nodes that changed them, and none for equal positions',
  { tags: ['compiler-stages:stages-of-cycles'], timeout: 600_000 },
  async () => {
    using folder = temporaryFolder();
    const home = ['--home', folder.path];
    const [first] = await importAll(folder.path, [SAMPLE]);
    const history = first!.history;
    type Diff = {
      readonly shared: number;
      readonly stages: readonly {
        readonly stage: string;
        readonly moved: boolean;
        readonly parts: readonly string[];
        readonly added: readonly { readonly kind: string }[];
        readonly removed: readonly unknown[];
      }[];
    };
    const same = (await stemmaJson(['stages', 'diff', history, '@c1', '@c1', ...home])) as Diff;
    expect(same.stages.map(({ moved, added, removed }) => [moved, added.length, removed.length])).toEqual(
      Array.from({ length: 4 }, () => [false, 0, 0]),
    );
    const later = (await stemmaJson(['stages', 'diff', history, '@c1', '@t0', ...home])) as Diff;
    const [raw, spec, header] = later.stages;
    expect(raw).toMatchObject({ stage: 'RAW', moved: true, removed: [] });
    expect(raw!.parts).toContain('node_hash');
    expect(spec!.added.every(({ kind }) => kind === 'message')).toBe(true);
    expect(header!.parts).toContain('node_hash');
    expect(await output('stages', 'diff', history, '@c1', '@t0', ...home)).toContain('RAW: ');
  },
);

test(
  'interventions of an actor on a fork are guardrail nodes without ids, after the nodes that the fork shares',
  { tags: ['compiler-stages:our-stream'], timeout: 600_000 },
  async () => {
    using folder = temporaryFolder();
    const home = ['--home', folder.path];
    const [first] = await importAll(folder.path, [SAMPLE]);
    const history = first!.history;
    const forked = await stemmaJson(['fork', history, '@c1', '--name', 'side', ...home]);
    const branchId = /:(\d+)/.exec(JSON.stringify(forked))?.[1] ?? '';
    const side = `${history}:${branchId}`;
    const said = 'Words of an observer, long enough to be found';
    await output('inject', side, said, ...home);
    await output('commit', side, ...home);
    await output('config', 'set', side, 'model_id=small', ...home);
    const events = (await output('stages', 'events', side, ...home))
      .trimEnd()
      .split('\n')
      .slice(1)
      .map(
        (branchRef) =>
          JSON.parse(branchRef) as { kind: string; payload: { type?: string; payload?: object } },
      );
    const shared =
      (await output('stages', 'events', history, '@c1', ...home)).trimEnd().split('\n').length - 1;
    expect(events.slice(shared).map(({ kind, payload }) => [kind, payload.type])).toEqual([
      ['guardrail', 'fork'],
      ['lifecycle', 'forked'],
      ['guardrail', 'message_inject'],
      ['message', undefined],
      ['guardrail', 'edit'],
      ['lifecycle', 'sealed'],
      ['lifecycle', 'committed'],
      ['guardrail', 'config_change'],
    ]);
    const guardrails = events
      .filter(({ kind }) => kind === 'guardrail')
      .map(({ payload }) => payload.payload);
    expect(guardrails).toEqual([
      { description: '' },
      { source: 'manual', text: said },
      { commands: [{ cycle: 2, op: 'commit' }] },
      { model_id: { from: null, to: 'small' } },
    ]);
    expect(await output('stages', side, '--json', ...home)).not.toContain(said);
  },
);
