import { canonicalJson, type WideJson } from '@stemma/canonical';
import { isHeaderName } from '@stemma/context-tree';
import { isOfOne, type HistoryEvent, type RecordedNode, type BranchPosition } from '@stemma/events';
import { defined } from '@stemma/values';

type Steps = { readonly [name: string]: WideJson }[];
/** What the steps of a frame refer to. */
export type FrameContext = {
  readonly seq: number;
  readonly command: string;
  /** The number of the command after which a position is; null: it lies outside of the experiment. */
  readonly after: (at: BranchPosition) => number | null;
  /** The export of the tree at the frame, for one that begins with an import. */
  readonly exported: string | null;
  readonly leaveOut: (what: string) => void;
};

/** A frame taken back to what was asked for: the steps that come to the same events, and the one time of its nodes. */
export type FrameSteps = { readonly time: bigint | null; readonly steps: Steps };

/** The categories of events that a step of an experiment may have asked for. */
const ASKED_FOR = ['start', 'tree', 'snapshot', 'configuration', 'label', 'intervention', 'vectors'] as const;

/**
 * The steps of a frame. Events that follow from others (expiry, sealing, hashes) are left to the writer, which decides
 * them again; ids are given, so that they are the same in any history.
 */
export const stepsOfFrame = (events: readonly HistoryEvent[], context: FrameContext): FrameSteps => {
  const time = sharedTime(events);
  const steps: Steps = [];
  const imported = events.some(({ type }) => type === 'SnapshotImported');
  const isInjection =
    events[0]?.type === 'InterventionRecorded' && events[0].intervention === 'message_inject';
  const ownTime = (at: bigint): { at_ns?: string } => (at === time ? {} : { at_ns: String(at) });
  let turn: RecordedNode | null = null;
  for (const event of events) {
    if (!isOfOne(event, ASKED_FOR)) continue;
    switch (event.type) {
      case 'InterventionRecorded':
        steps.push(...stepsOfContent(event, context, events.length === 1));
        break;
      case 'HistoryStarted': {
        const { ids, thread } = event;
        // What is done again of an erasable history can be erased, too.
        const erasable = event.erasable === undefined ? {} : { erasable: { ...event.erasable } };
        if (imported) steps.push({ op: 'import', export: context.exported ?? '', thread, ...erasable });
        else steps.push({ op: 'start', ids, thread, ...erasable });
        break;
      }
      case 'BranchStarted':
        steps.push(
          event.how === 'fork'
            ? { op: 'fork', name: event.name, ...descriptionIn(events) }
            : { op: 'rollback', abandoned: event.abandoned, ...descriptionIn(events) },
        );
        return { time, steps };
      case 'NodeInserted':
        steps.push(
          isInjection && isInjected(event.node, context.command)
            ? { ...injectStep(event.parent, event.node), ...retoldIn(events[0]) }
            : {
                op: 'insert',
                parent: event.parent,
                node: givenNode(event.node),
                ...ownTime(event.node.created_at_ns),
              },
        );
        break;
      case 'NodeReplaced': {
        const set: { [name: string]: WideJson } = {};
        for (const field of event.fields) set[field] = event.payload[field] as WideJson;
        steps.push({ op: 'replace', id: event.id, set });
        break;
      }
      case 'NodeMoved':
        steps.push({ op: 'move', id: event.id, parent: event.parent });
        break;
      case 'NodeRemoved':
        steps.push({ op: 'remove', id: event.id });
        break;
      case 'TurnSealed':
        turn = event.turn;
        break;
      case 'SnapshotCommitted':
        steps.push({
          op: 'commit',
          ...(turn === null ? {} : { turn_id: turn.id, ...ownTime(turn.created_at_ns) }),
        });
        break;
      case 'PolicyConfigured':
        steps.push({ op: 'policy', policy: event.policy });
        break;
      case 'ConfigurationChanged': {
        const set: { [name: string]: WideJson } = {};
        for (const { key, to } of event.changes) set[key] = (to ?? null) as WideJson;
        steps.push({ op: 'config', set });
        break;
      }
      case 'PriorityChanged':
        steps.push({ op: 'priorities', priorities: [{ id: event.id, priority: event.priority }] });
        break;
      case 'PositionNamed':
        steps.push(...withPosition({ op: 'name', name: event.name }, event, context));
        break;
      case 'PositionAnnotated':
        steps.push(...withPosition({ op: 'annotate', note: event.note }, event, context));
        break;
      case 'HistoryLabelled':
        steps.push({ op: 'label', label: event.label, value: event.value });
        break;
      case 'VectorsRecorded': {
        const { embedder, dimension, texts, payload } = event;
        steps.push({
          op: 'record_vectors',
          embedder,
          dimension,
          texts,
          vectors: payload['data_vectors'] as WideJson,
        });
        break;
      }
      case 'NodeImported':
      case 'SnapshotImported':
      case 'NodeExpired':
      case 'NodeCascaded':
      case 'NodePruned':
      case 'NodeHeld':
        break;
    }
  }
  return { time, steps };
};

/**
 * The time that the steps without one of their own have in common: the one that comes again without having grown, else
 * the first (a step's own time is always past what was there before it).
 */
const sharedTime = (events: readonly HistoryEvent[]): bigint | null => {
  let first: bigint | null = null;
  let newest = -1n;
  for (const event of events) {
    const node = event.type === 'NodeInserted' ? event.node : event.type === 'TurnSealed' ? event.turn : null;
    if (node === null) continue;
    const { created_at_ns: at } = node;
    if (at <= newest) return at;
    first ??= at;
    newest = at;
  }
  return first;
};

/** A node as it was given: without what is made where a command is decided. */
const givenNode = (node: RecordedNode): WideJson => {
  const { cycle: _cycle, created_at_ns: _at, creation_index: _index, ...rest } = node;
  return rest as WideJson;
};

/** Headers that an injected message never has. */
const NOT_INJECTED: ReadonlySet<string> = new Set(['key', 'removable', 'refs', 'provenance']);
const INJECTED: ReadonlySet<string> = new Set([
  'content',
  'data_source',
  'data_intervention',
  'data_vector_id',
]);

const isInjected = (node: RecordedNode, command: string): boolean =>
  node['data_intervention'] === command &&
  typeof node['content'] === 'string' &&
  typeof node['data_source'] === 'string' &&
  typeof node.kind === 'string' &&
  node.role !== null &&
  node.priority === 0 &&
  Object.keys(node).every((name) => INJECTED.has(name) || (isHeaderName(name) && !NOT_INJECTED.has(name)));

const injectStep = (parent: string, node: RecordedNode): Steps[number] => ({
  op: 'inject',
  text: node['content'] as string,
  source: node['data_source'] as string,
  id: node.id,
  parent,
  offset: node.offset,
  ...defined({ role: node.role }),
  kind: node.kind as string,
  ttl: node.ttl,
  ...(node['data_vector_id'] === undefined ? {} : { vector_id: node['data_vector_id'] as number }),
});

/** Interventions that no other event of the frame shows. */
const stepsOfContent = (
  event: Extract<HistoryEvent, { type: 'InterventionRecorded' }>,
  { after }: FrameContext,
  isAlone: boolean,
): Steps => {
  const { intervention, content } = event;
  const told = retoldIn(event);
  const isOwn = content['question'] !== undefined || content['rounds'] !== undefined;
  if (isAlone && !isOwn && told.retold !== undefined) return [{ op: 'retell', type: intervention, ...told }];
  if (intervention === 'external_query') {
    const { question, answer, mind } = content as { readonly [name: string]: WideJson };
    return [{ op: 'query', question: question ?? '', answer: answer ?? null, mind: mind ?? '', ...told }];
  }
  if (intervention !== 'run') return [];
  const { rounds, total_rounds_after, since } = content as { readonly [name: string]: WideJson };
  const from = since === undefined ? null : after(since as unknown as BranchPosition);
  return [
    {
      op: 'run',
      rounds: rounds ?? 0,
      total_rounds_after: total_rounds_after ?? 0,
      ...(from === null ? {} : { since: { after: from } }),
      ...told,
    },
  ];
};

/** What another record says of the intervention. */
const retoldIn = (event: HistoryEvent | undefined): { readonly retold?: WideJson } =>
  event?.type === 'InterventionRecorded' && event.content['retold'] !== undefined
    ? { retold: event.content['retold'] as WideJson }
    : {};

const descriptionIn = (events: readonly HistoryEvent[]): { description?: string } => {
  const note = events.find((event) => event.type === 'PositionAnnotated');
  return note === undefined ? {} : { description: note.note };
};

/** A name or note with the position it is of; one of the frame itself needs none. */
const withPosition = (
  step: Steps[number],
  at: BranchPosition,
  { seq, after, leaveOut }: FrameContext,
): Steps => {
  if (at.seq === seq) return [step];
  const commandNumber = after(at);
  if (commandNumber !== null) return [{ ...step, position: { after: commandNumber } }];
  leaveOut(
    `frame ${seq}: ${canonicalJson(step['op'] ?? null)} of position ${at.seq} of branch ${at.branchId}`,
  );
  return [];
};
