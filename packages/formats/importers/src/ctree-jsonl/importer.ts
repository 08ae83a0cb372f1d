import { isJsonObject, type WideJson } from '@stemma/canonical';
import { echo } from '@stemma/errors';
import type { Step } from '@stemma/history';
import { describeNode, profileNamed, readLogLine } from '@stemma/stages';
import { checkNode } from '../check-node.ts';
import type { Importer, ImporterOutput, MakeFirstStep, Unit } from '../importer.ts';
import { addCount } from '../counts.ts';
import { addWarning, importReport, newTally } from '../tally.ts';
import { eventToNode } from './event-to-node.ts';
import { newIds } from './ids.ts';

const MAPPING = 'ctree-jsonl@1';

/** The most events in one command: a frame stays small however long a turn is. */
const MAX_EVENTS = 1_000;

/**
 * Event logs of the C-Trees engine (compiler-stages, The node stream): JSON lines of `{kind, payload, turn, node_id}`
 * after a header line. See docs/formats/import.md.
 */
export const ctreeJsonl: Importer = {
  name: 'ctree-jsonl',
  mapping: MAPPING,
  summary: 'event logs of the C-Trees engine: a header line, then {kind, payload, turn, node_id} a line',
  readsLines: true,
  recognises: (first) => isHeader(first) || isEvent(first),
  read,
};

const isHeader = (value: WideJson): boolean =>
  isJsonObject(value) && value['_type'] === 'ctree_eventlog_header';
const isEvent = (value: WideJson): boolean =>
  isJsonObject(value) && typeof value['kind'] === 'string' && value['payload'] !== undefined;

/** Missing ids are made as the engine makes them. */
const ENGINE = profileNamed('breadboard-0.1');

const start: MakeFirstStep = (name, source) => ({ op: 'start', name, source });

/** Messages of these roles that come before any other message belong to the system header. */
const SYSTEM_ROLES = new Set(['system', 'developer']);

async function* read(units: AsyncIterable<Unit>): AsyncIterable<ImporterOutput> {
  const tally = newTally();
  const ids = newIds();
  let ordinal = 0;
  let begun = false;
  let inHead = false;
  let openTurn: string | null = null;
  let uncommitted = false;
  let steps: Step[] = [];

  const flush = (): ImporterOutput => {
    const output: ImporterOutput = { kind: 'steps', firstStep: begun ? null : start, steps };
    begun = true;
    steps = [];
    return output;
  };
  const commit = (): ImporterOutput => {
    steps.push({ op: 'commit', at_ns: 0n });
    addCount(tally.read, 'cycles');
    uncommitted = false;
    return flush();
  };

  for await (const { text, line: number, where } of units) {
    let repeated = null as string | null;
    const line = readLogLine(ENGINE, text, number, (key) => (repeated = key));
    if (line.is === 'skipped') {
      addCount(tally.skipped, 'lines');
      tally.summary.dropped('lines');
      addWarning(tally, 'W_LINE_DAMAGED', `skipped: ${line.reason}`);
    }
    if (line.is !== 'node') continue;
    const { node, event } = line;
    const turn = typeof node.turn === 'number' && Number.isSafeInteger(node.turn) ? String(node.turn) : null;
    // An event without a turn belongs to the open turn.
    if (turn !== null && turn !== openTurn && openTurn !== null && uncommitted) yield commit();
    openTurn = turn ?? openTurn;
    const { id: engineId } = describeNode(ENGINE, node, ordinal);
    const id = ids.take(engineId, number);
    if (id !== engineId)
      addWarning(
        tally,
        'W_ID_CHANGED',
        `${where}: the id ${JSON.stringify(engineId.slice(0, 80))} became ${id}`,
      );
    // The engine's logs may have them, and its reader takes the last value: said, since it is not refused.
    if (repeated !== null)
      addWarning(
        tally,
        'W_REPEATED',
        `${where}: the key ${JSON.stringify(echo(repeated))} stands twice, its last value counts`,
      );
    const block = eventToNode({ kind: node.kind, line: event, text, number, ordinal }, id);
    if (block['data_line'] !== undefined) addCount(tally.read, 'lines kept as written');
    checkNode(block, where);
    const role = block['role'];
    inHead ||= node.kind === 'message' && !(typeof role === 'string' && SYSTEM_ROLES.has(role));
    const parent = node.kind === 'message' && !inHead ? '^sys' : '^ah';
    steps.push({ op: 'insert', parent, node: block, at_ns: 0n });
    addCount(tally.read, node.kind);
    ordinal += 1;
    uncommitted = true;
    if (steps.length >= MAX_EVENTS) yield flush();
  }
  if (uncommitted) yield commit();
  if (ordinal === 0) yield flush();
  yield { kind: 'report', report: importReport(MAPPING, tally) };
}
