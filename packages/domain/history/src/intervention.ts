import { isJsonObject, type WideJson } from '@stemma/canonical';
import {
  changesBranch,
  isOf,
  type Author,
  type HistoryEvent,
  type InterventionType,
  type BranchPosition,
} from '@stemma/events';
import { abandonedBranchAddress, branchAddress } from './branch-address.ts';

/** The parts of a frame that show its intervention. */
export type AuthoredFrame = {
  readonly history: string;
  readonly seq: number;
  readonly branchId: number;
  readonly author: Author;
  readonly events: readonly HistoryEvent[];
};

/** An intervention without its author, its time, and the positions around it. */
export type InterventionFacts = {
  readonly type: InterventionType;
  readonly notes: string;
  /** Completed from the other events of the frame (pool: Interventions). */
  readonly content: { readonly [name: string]: WideJson };
};

/** How a position is written where its history is known: `@s57`, the position after frame 57. */
export const positionRef = ({ seq }: BranchPosition): string => `@s${seq}`;

/**
 * The intervention that a frame records; null for a recorder's command and for observations. An actor's frame without
 * an intervention event (from before these existed) is an intervention too: its events show its type.
 */
export const interventionIn = (frame: AuthoredFrame): InterventionFacts | null => {
  const [first] = frame.events;
  if (!('actor' in frame.author) || first === undefined || isOf(first, 'observation')) return null;
  const recorded = first.type === 'InterventionRecorded' ? first : null;
  const others = recorded === null ? frame.events : frame.events.slice(1);
  const type = recorded?.intervention ?? kindOf(others);
  const recordedContent = (recorded?.content ?? {}) as { readonly [name: string]: WideJson };
  const notes = recorded?.notes ?? '';
  const { retold } = recordedContent;
  if (retold === undefined) return { type, notes, content: contentOf(type, frame, others, recordedContent) };
  // What another record told changed nothing here: only that record says what it was.
  const record = isJsonObject(retold) && isJsonObject(retold['record']) ? retold['record'] : {};
  const told = isJsonObject(record['content']) ? record['content'] : {};
  const content = others.length > 0 ? contentOf(type, frame, others, recordedContent) : recordedContent;
  return { type, notes, content: { ...told, ...content, retold } };
};

/**
 * The positions before and after an intervention (pool: Interventions). They are equal if nothing of the branch
 * changed, and for a fork; a rollback leads from the abandoned tip to its target.
 *
 * @param previous the branch's tip before the frame, for a rollback the abandoned tip; null: the history starts.
 */
export const positionsAround = (
  { seq, branchId, events }: AuthoredFrame,
  previous: number | null,
): { readonly before: BranchPosition | null; readonly after: BranchPosition } => {
  const branch = events.find((event) => event.type === 'BranchStarted');
  if (branch !== undefined) {
    const target = { branchId: branch.parent, seq: branch.at };
    const left = previous === null ? target : { branchId: branch.parent, seq: previous };
    return { before: branch.how === 'fork' ? target : left, after: target };
  }
  const [first, ...others] = events;
  if (
    first?.type === 'InterventionRecorded' &&
    others.length === 0 &&
    first.content['retold'] !== undefined
  ) {
    const { since, until } = first.content as { readonly [name: string]: BranchPosition | undefined };
    const now = { branchId, seq: previous ?? seq };
    return { before: since ?? now, after: until ?? now };
  }
  if (first?.type === 'InterventionRecorded' && first.intervention === 'run') {
    const since = first.content['since'] as BranchPosition | undefined;
    const now = { branchId, seq: previous ?? seq };
    return { before: since ?? now, after: now };
  }
  const own = { branchId, seq };
  if (previous === null) return { before: null, after: own };
  const before = { branchId, seq: previous };
  return { before, after: events.some(changesBranch) ? own : before };
};

const kindOf = (events: readonly HistoryEvent[]): InterventionType => {
  const types = new Set(events.map(({ type }) => type));
  const branch = events.find((event) => event.type === 'BranchStarted');
  if (branch !== undefined) return branch.how;
  if (types.has('PolicyConfigured') && types.size === 1) return 'config_change';
  if (types.has('PositionNamed') && !events.some(changesBranch)) return 'save';
  return ['PositionAnnotated', 'HistoryLabelled'].some((type) => types.has(type as never) && types.size === 1)
    ? 'annotate'
    : 'edit';
};

type Content = { readonly [name: string]: WideJson };

const contentOf = (
  type: InterventionType,
  frame: AuthoredFrame,
  events: readonly HistoryEvent[],
  recordedContent: Content,
): Content => {
  switch (type) {
    case 'message_inject':
      return injected(events);
    case 'config_change':
      return configured(events, recordedContent);
    case 'fork':
      return { forked_to: branchAddress(frame.history, frame.branchId), description: noteIn(events) };
    case 'rollback':
      return rolledBack(frame.history, events);
    case 'save':
      return saved(events);
    case 'annotate':
      return annotated(events);
    case 'edit':
      return { commands: events.flatMap(edited) };
    case 'run':
      return { ...recordedContent, ...runIn(events) };
    case 'external_query':
      return recordedContent;
    case 'rerun':
      return rerunIn(events);
  }
};

/** What was asked of a runner, or ended. */
const runIn = (events: readonly HistoryEvent[]): Content => {
  for (const event of events) {
    if (event.type === 'RunRequested') {
      const { rounds, checkpointEvery, tokens, cost, seconds } = event;
      const limits = { checkpoint_every: checkpointEvery, tokens, cost, seconds };
      return {
        requested: rounds,
        ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null)),
      };
    }
    if (event.type === 'RunEnded') return { ended: event.run, how: event.how, why: event.why };
  }
  return {};
};

/** What came of running an agent again. */
const rerunIn = (events: readonly HistoryEvent[]): Content => {
  const ended = events.find((event) => event.type === 'RerunEnded');
  if (ended === undefined) return {};
  const { rerun, of, exit, counts, difference } = ended;
  return {
    rerun,
    of,
    exit,
    counts: { ...counts },
    difference: difference === null ? null : { ...difference },
  };
};

const noteIn = (events: readonly HistoryEvent[]): string =>
  events.find((event) => event.type === 'PositionAnnotated')?.note ?? '';

const injected = (events: readonly HistoryEvent[]): Content => {
  const node = events.find((event) => event.type === 'NodeInserted')?.node ?? {};
  const { id, content, data_source, data_vector_id } = node as {
    readonly [name: string]: WideJson | undefined;
  };
  return {
    text: content ?? '',
    source: data_source ?? null,
    vector_id: data_vector_id ?? null,
    node: id ?? null,
  };
};

const configured = (events: readonly HistoryEvent[], recordedContent: Content): Content => {
  const content: { [key: string]: WideJson } = {};
  for (const event of events) {
    if (event.type === 'PolicyConfigured')
      content['policy'] = { from: recordedContent['policy_before'] ?? null, to: event.policy as WideJson };
    if (event.type === 'ConfigurationChanged')
      for (const { key, from, to } of event.changes)
        content[key] = { from: from as WideJson, to: to as WideJson };
  }
  return content;
};

const rolledBack = (history: string, events: readonly HistoryEvent[]): Content => {
  const started = events.find((event) => event.type === 'BranchStarted');
  if (started === undefined) return {};
  const description = noteIn(events);
  return {
    to: positionRef({ branchId: started.parent, seq: started.at }),
    abandoned: abandonedBranchAddress(history, started.parent),
    ...(description === '' ? {} : { description }),
  };
};

const saved = (events: readonly HistoryEvent[]): Content => {
  const named = events.find((event) => event.type === 'PositionNamed');
  return {
    name: named?.name ?? '',
    position: named === undefined ? null : positionRef(named),
    description: noteIn(events),
  };
};

const annotated = (events: readonly HistoryEvent[]): Content => {
  const note = events.find((event) => event.type === 'PositionAnnotated');
  const labels: { [label: string]: WideJson } = {};
  for (const event of events) if (event.type === 'HistoryLabelled') labels[event.label] = event.value;
  if (note === undefined && Object.keys(labels).length > 0) return { labels };
  return { position: note === undefined ? null : positionRef(note), note: note?.note ?? '' };
};

/** What was done, with the ids of the nodes; consequences have their own causes. */
const edited = (event: HistoryEvent): WideJson[] => {
  switch (event.type) {
    case 'HistoryStarted':
      return [{ op: 'start', name: event.name }];
    case 'NodeInserted':
      return [{ op: 'insert', id: event.node.id, parent: event.parent }];
    case 'NodeReplaced':
      return [{ op: 'replace', id: event.id, fields: [...event.fields] }];
    case 'NodeMoved':
      return [{ op: 'move', id: event.id, parent: event.parent }];
    case 'NodeRemoved':
      return [{ op: 'remove', id: event.id }];
    case 'PriorityChanged':
      return [{ op: 'priority', id: event.id, priority: event.priority }];
    case 'SnapshotCommitted':
      return [{ op: 'commit', cycle: event.cycle }];
    case 'SnapshotImported':
      return [{ op: 'import', cycle: event.cycle }];
    case 'PolicyConfigured':
      return [{ op: 'policy', policy: event.policy as WideJson }];
    case 'ConfigurationChanged':
      return [{ op: 'config', changes: event.changes as WideJson }];
    case 'PositionNamed':
      return [{ op: 'save', name: event.name, position: positionRef(event) }];
    case 'PositionAnnotated':
      return [{ op: 'annotate', position: positionRef(event) }];
    case 'HistoryLabelled':
      return [{ op: 'label', label: event.label, value: event.value }];
    case 'CallReassigned':
      return [{ op: 'reassign_call', attempt: event.attemptId, to: { ...event.to } }];
    case 'ConversationLinked':
      return [
        { op: 'link', branch: event.branchId, parent: event.parent === null ? null : { ...event.parent } },
      ];
    case 'ContentRedacted':
      return [{ op: 'redacted', redactions: event.redactions.map((one) => ({ ...one })) }];
    case 'HistoryErased':
      return [{ op: 'erase' }];
    case 'CallReleased':
      return [{ op: 'release', attempt: event.attemptId, how: event.how }];
    case 'VectorsRecorded':
      return [{ op: 'record_vectors', embedder: event.embedder, texts: event.texts.length }];
    case 'ImportRecorded':
      return [{ op: 'record_import', format: event.format }];
    case 'ImportLinked':
      return [{ op: 'link_import', branch: event.branchId, parent: { ...event.parent }, why: event.why }];
    case 'BranchStarted':
    case 'NodeImported':
    case 'NodeExpired':
    case 'NodeCascaded':
    case 'NodePruned':
    case 'NodeHeld':
    case 'TurnSealed':
    case 'InterventionRecorded':
    case 'ObservationRecorded':
    case 'CallStarted':
    case 'CallFinished':
    case 'CallSteered':
    case 'CallHeld':
    case 'RunRequested':
    case 'RunTaken':
    case 'RunEnded':
    case 'RunRecorded':
    case 'RerunEnded':
    case 'EffectRecorded':
    case 'ProviderCallRecorded':
      return [];
  }
};
