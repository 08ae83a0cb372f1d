import { compareCodePoints, type WideJson } from '@stemma/canonical';
import { isHeaderName } from '@stemma/context-tree';
import {
  changedIds,
  isOf,
  newPayload,
  nodeIn,
  type EventOf,
  type HistoryEvent,
  type RecordedNode,
} from '@stemma/events';

/** What a document is made of: a filter of searches. */
export const DOCUMENT_KINDS = ['content', 'name', 'note', 'intervention', 'call', 'error'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** Text of an event that people look for. `ids` are found by their words too. */
export type SearchDocument = {
  readonly kind: DocumentKind;
  /** The node that the text is of. */
  readonly node: string | null;
  readonly role: string | null;
  readonly text: string;
  readonly ids: string;
};

/** The longest text of one document that is indexed, in UTF-16 units: what follows is not found. */
const LONGEST_TEXT = 1_000_000;
/** Contents nest at most 300 levels deep. */
const DEEPEST = 320;

type TextsOf<E extends HistoryEvent> = {
  readonly [T in E['type']]: (event: Extract<E, { readonly type: T }>) => readonly SearchDocument[];
};

const none = (): readonly SearchDocument[] => [];

/** Of an event that brings a node or changes its content. */
const ofNode = (event: HistoryEvent): readonly SearchDocument[] => {
  const node = nodeIn(event);
  if (node !== null) return [nodeDocument(node.id, roleOf(node), node)];
  const payload = newPayload(event);
  const [id] = changedIds(event);
  return payload === null || id === undefined ? [] : [nodeDocument(id, null, payload)];
};

/** What people write themselves: whoever adds such an event decides what is found of it, or it does not compile. */
type Written = EventOf<'start' | 'configuration' | 'label' | 'intervention' | 'observation'>;

/** The texts of events; of a `tree` event without a line, those of its node, of any other, none. */
const TEXTS: TextsOf<Written> & Partial<TextsOf<HistoryEvent>> = {
  HistoryStarted: ({ name }) => labels('name', [name]),
  BranchStarted: ({ name, abandoned }) => labels('name', [name, abandoned]),
  PositionNamed: ({ name }) => labels('name', [name]),
  PositionAnnotated: ({ note }) => labels('note', [note]),
  HistoryLabelled: ({ label, value }) => labels('note', [value === null ? null : `${label}=${value}`]),
  InterventionRecorded: ({ intervention, notes, content }) =>
    labels('intervention', [join([intervention, notes, textOf(content as WideJson)])]),
  CallStarted: ({ model, payload, attemptId }) =>
    labels('call', [join([model ?? '', textOf(payload['data_tools'] as WideJson)])], attemptId),
  CallFinished: ({ model, error, payload, attemptId }) => [
    ...labels('error', [error && join([error.code ?? '', error.message])], attemptId),
    // The answer is a node of the next call, if there is one; that of the last call stands only here.
    ...labels('call', [join([model ?? '', textOf(payload['data_answer'] as WideJson)])], attemptId),
  ],
  // The messages in a turn have been found since they came.
  TurnSealed: none,
  PolicyConfigured: none,
  ConfigurationChanged: none,
  ObservationRecorded: none,
};

/** The texts in an event, in a fixed order. Pure: the same event gives the same documents. */
export const documentsOf = (event: HistoryEvent): readonly SearchDocument[] =>
  ((TEXTS[event.type] ?? (isOf(event, 'tree') ? ofNode : none)) as typeof ofNode)(event);

/** What importers note of the form of a message: of which message a block is a part, and how its calls are written. */
const FORM_NOTES = new Set(['data_continues', 'data_call']);
/** Of `data_message`, the other fields of the message were said; its place and the form of its content were not. */
const saidIn = (name: string, value: WideJson): WideJson | undefined =>
  name !== 'data_message' ? value : ((value ?? {}) as { readonly fields?: WideJson }).fields;

const roleOf = ({ role, kind }: RecordedNode): string | null => role ?? kind ?? null;

const nodeDocument = (
  id: string,
  role: string | null,
  attributes: { readonly [name: string]: unknown },
): SearchDocument => {
  const { content, ...rest } = attributes;
  const texts = [textOf(content as WideJson)];
  for (const name of Object.keys(rest).sort(compareCodePoints))
    if (!isHeaderName(name) && !FORM_NOTES.has(name))
      texts.push(textOf(saidIn(name, rest[name] as WideJson)));
  const key = attributes['key'];
  return {
    kind: 'content',
    node: id,
    role,
    text: join(texts).slice(0, LONGEST_TEXT),
    ids: join([id, typeof key === 'string' ? key : '']),
  };
};

const labels = (kind: DocumentKind, texts: readonly (string | null)[], ids = ''): readonly SearchDocument[] =>
  texts
    .filter((text) => text !== null && text !== '')
    .map((text) => ({ kind, node: null, role: null, text: String(text).slice(0, LONGEST_TEXT), ids }));

const join = (texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n');

/** The texts in a value, one a line, in its own order. Names of keys are no text of it. */
const textOf = (value: WideJson | undefined): string => {
  const texts: string[] = [];
  let room = LONGEST_TEXT;
  const visit = (each: WideJson | undefined, depth: number): void => {
    if (room <= 0 || depth > DEEPEST) return;
    if (typeof each === 'string') {
      texts.push(each);
      room -= each.length + 1;
    } else if (typeof each === 'number' || typeof each === 'bigint') {
      texts.push(String(each));
      room -= 8;
    } else if (Array.isArray(each)) for (const item of each as readonly WideJson[]) visit(item, depth + 1);
    else if (typeof each === 'object' && each !== null && !(each instanceof Uint8Array))
      for (const item of Object.values(each as { readonly [name: string]: WideJson })) visit(item, depth + 1);
  };
  visit(value, 0);
  return join(texts);
};
