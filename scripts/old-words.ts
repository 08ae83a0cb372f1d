/** Words that this repository no longer uses, what it says instead, and where a word means something else. */
export type OldWord = {
  /** One word or several: `far rows` is also found as `farRows`, `FarRows`, `far-rows` and across two lines of prose. */
  readonly old: readonly string[];
  readonly say: string;
  readonly allowed?: readonly AllowedUse[];
};

/** A use of the word in another sense, or of a name that cannot change. What `text` covers is not reported. */
export type AllowedUse = {
  readonly text: RegExp;
  /** Beginnings of the paths of the files in which it is allowed; everywhere if not given. */
  readonly only?: readonly string[];
  readonly why: string;
};

/** Refused everywhere: in identifiers, comments, texts, pages and names of files. */
export const oldWords: readonly OldWord[] = [
  { old: ['strand', 'strands'], say: 'branch id' },
  {
    old: ['lineage', 'lineages'],
    say: 'branch',
    allowed: [
      {
        text: /\bget_?lineage\b/,
        why: 'the question of pool §3.5: the ancestors of a branch, from the root',
      },
      {
        text: /the lineage of|whose lineage|lineage of one root|_Lineages\._|\*\*lineage\*\*/,
        why: 'the ancestry of a branch',
      },
      {
        text: /\blineage\b/,
        only: ['packages/storage/log/src/body.ts', 'packages/domain/history/src/command.ts'],
        why: 'the recorded key of the branch id, which never changes',
      },
      {
        text: /\blineage: -?[01]\b|'lineage'/,
        only: ['packages/storage/log/test/codec', 'packages/domain/history/test/decide'],
        why: 'frames and commands as they are recorded',
      },
      {
        text: /"lineage"|first name, `lineage`|at, lineage, (actor|recorder)|under the key `lineage`|key of the branch id is `lineage`|\.\.\.recorded, lineage:/,
        only: ['docs/rules/', 'docs/formats/record.md', 'packages/domain/history/test/'],
        why: 'the recorded key, where the bytes are explained',
      },
    ],
  },
  {
    old: ['lane', 'lanes'],
    say: 'partition writer',
    allowed: [
      {
        text: /lanes?/,
        only: [
          'packages/domain/context-tree/src/lt-hash',
          'packages/testing/test-kit/src/trees/naive-reading',
          'docs/rules/snapshots.md',
          'docs/formats/hashes.md',
        ],
        why: 'the 16-bit lanes of LtHash, as its authors call them',
      },
    ],
  },
  { old: ['vista', 'vistas'], say: 'ancestry view' },
  {
    old: ['chain', 'chains'],
    say: 'ancestor path',
    allowed: [
      {
        text: /chain[ _-]?hash(es)?|hash[ -]chains?|chains? of (their |the )?hashes/,
        why: 'a chain of hashes',
      },
      {
        text: /\bchains?\b/,
        only: [
          'docs/decisions/0028',
          'packages/rows/read-models/src/stages/tables.ts',
          'docs/formats/rows.md',
          'docs/sql-tables.md',
          'packages/domain/context-tree/src/slice-chain',
          'packages/domain/context-tree/src/digests.ts',
        ],
        why: 'a chain of hashes',
      },
      { text: /slice-?chain/, why: 'the chain of the hashes of slices' },
      { text: /`?chain`? is SHA-256[^|]*|chain before it/, why: 'a chain of hashes' },
      { text: /\.chain\(/, why: 'a method of fast-check' },
      {
        text: /['"]chain['"]/,
        only: ['packages/formats/importers/'],
        why: 'a kind of spans of OpenInference and of runs of LangSmith',
      },
      { text: /isOptionalChain|optional chain/, only: ['scripts/mutants/'], why: 'the term of the language' },
      { text: /markov chains?/, why: 'the term' },
      { text: /langchain/, why: 'the name of a program' },
      {
        text: /side chains|agents and chains/,
        only: ['docs/rules/imports.md', 'docs/formats/import.md'],
        why: 'what other programs call theirs',
      },
      {
        text: /'chain'/,
        only: ['packages/testing/test-kit/src/golden/'],
        why: 'the name of an operation in published vectors',
      },
    ],
  },
  { old: ['stem', 'stems'], say: 'merge base' },
  {
    old: ['course', 'courses'],
    say: 'node history, thread timeline or partition relay',
    allowed: [{ text: /\bof course\b/, why: 'plain English' }],
  },
  { old: ['anybodys'], say: 'affectsWholePartition' },
  { old: ['teller', 'tellers'], say: 'formatter' },
  {
    old: ['standing', 'standings'],
    say: 'checkpoint, branch tip or stream position',
    allowed: [
      { text: /\bstanding (selector|query)\b/, why: 'a query whose answer is followed, as databases say' },
    ],
  },
  {
    old: ['fence', 'fenced', 'fences', 'fencing'],
    say: 'stale frame; readers reject it',
    allowed: [
      {
        text: /fencing( off)? (of )?(a |the )?(replaced|old) (writer|producer)|fenced (writer|producer)/,
        why: 'a writer that was replaced',
      },
      { text: /PRODUCER_FENCED|ProducerFenced|code fences?/, why: 'names of Kafka and of Markdown' },
    ],
  },
  { old: ['offload', 'offloads', 'offloaded', 'offloading'], say: 'externalise contents' },
  { old: ['witness', 'witnesses', 'witnessed'], say: 'audit of an import' },
  { old: ['each place'], say: 'walk' },
  {
    old: ['far row', 'far rows', 'rows far away', 'rows elsewhere'],
    say: 'remote rows, external projection',
  },
  { old: ['near row', 'near rows'], say: 'local rows' },
  { old: ['patient row', 'patient rows'], say: 'catch-up with deadline' },
  { old: ['yielding log', 'yielding logs'], say: 'cooperative reader' },
  {
    old: ['deal', 'deals', 'dealt', 'dealing', 'dealer'],
    say: 'assign, assignment',
    allowed: [
      { text: /\ba (great|good) deal\b|\bdeals? with\b/, why: 'plain English' },
      {
        text: /\bdealt?s?[a-z]*/,
        only: ['docs/decisions/0043', 'docs/decisions/README'],
        why: 'a decision that 0048 supersedes, in its words',
      },
    ],
  },
  {
    old: [
      'an act',
      'the act',
      'each act',
      'every act',
      'no act',
      'one act',
      'the acts',
      'all acts',
      'acts of',
      'of acts',
    ],
    say: 'intervention; of a row: frame summary',
  },
];

/** Plain English elsewhere; refused as a word in the name of an exported type or of a file: `LogPlace`, `places.ts`. */
export const oldWordsOfNames: readonly OldWord[] = [
  { old: ['place', 'places'], say: 'location, read basis, checkpoint or entry offset' },
  { old: ['mark', 'marks'], say: 'position metadata; of a writer: savepoint' },
  { old: ['stretch', 'stretches'], say: 'key range' },
  { old: ['touch', 'touches'], say: 'node change' },
  { old: ['moment', 'moments'], say: 'timeline entry' },
  { old: ['act', 'acts'], say: 'intervention, frame summary' },
  { old: ['told', 'tell', 'tells'], say: 'description, show' },
  { old: ['passage', 'passages'], say: 'position diff' },
  { old: ['lagging'], say: 'behind primary' },
  { old: ['renewed'], say: 'revalidating reader' },
  { old: ['sending', 'sendings'], say: 'send' },
  { old: ['settle', 'settled'], say: 'resolve outcomes' },
  { old: ['again'], say: 'retry policy' },
  { old: ['stand', 'stands', 'stood'], say: 'checkpoint' },
  { old: ['beginning', 'beginnings'], say: 'prefix' },
];

/** Refused as the whole name of an exported type or of a file; good in company: `SkippedLine`, `thread-parts.ts`. */
export const oldNames: readonly OldWord[] = [
  { old: ['line', 'lines'], say: 'history session, branch' },
  { old: ['part', 'parts'], say: 'services, assignment' },
  { old: ['link', 'links'], say: 'segment' },
  { old: ['tail', 'tails'], say: 'partition reader' },
  { old: ['edge', 'edges'], say: 'bound' },
  { old: ['here'], say: 'open or catch up' },
  { old: ['level', 'levels'], say: 'up to date' },
  { old: ['draft', 'drafts'], say: 'new message' },
  { old: ['checked'], say: 'what was checked, in front' },
  { old: ['bytes in'], say: 'disk usage' },
];
