import { compareCodePoints, toHex } from '@stemma/canonical';
import type { ProgramEnd } from '@stemma/events';
import { listSnapshots } from '@stemma/history-store';
import { priceOf, sumOfPrices, type CallPrice, type PriceTable } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import {
  findBranch,
  findRecordedRun,
  listBranches,
  listCallRows,
  listInterventions,
  listRunsIn,
  listUnreleasedCalls,
  type BranchRow,
  type CallRow,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { LRUCache } from 'lru-cache';
import type { Prices } from '../calls/prices.ts';
import { listFilmCells } from '../filmstrip/filmstrip.ts';
import type { FilmCell, FilmCursor } from '../filmstrip/types.ts';
import { openCounts, type Counts } from '../prompts/measure.ts';
import type { FailedTool, HistoryFigures, MainDecision, Overview, UsedTool } from './types.ts';

const MAX_CACHED = 20_000;
const CELLS_AT_ONCE = 1_000;
const ROWS_AT_ONCE = 1_000;

/** Figures are kept as long as their history has no new frame and the home no other prices. */
export const openOverview = (projection: Projection, prices: Prices): Overview => {
  const counts = openCounts();
  const known = new LRUCache<
    string,
    { readonly frames: number; readonly table: PriceTable | null; readonly figures: HistoryFigures }
  >({ maxSize: MAX_CACHED, sizeCalculation: () => 1 });
  return {
    beginning: (history) =>
      projection.read((rows) => beginningOf(rows, history, findBranch(rows, history, 0))),
    figures: async (history, frames) => {
      const table = await prices();
      const found = known.get(history);
      if (found?.frames === frames && found.table === table) return found.figures;
      const figures = await readFigures(projection, history, counts, table);
      known.set(history, { frames, table, figures });
      return figures;
    },
  };
};

const readFigures = async (
  projection: Projection,
  history: string,
  counts: Counts,
  table: PriceTable | null,
): Promise<HistoryFigures> => {
  const cells: FilmCell[] = [];
  let after: FilmCursor | null = null;
  do {
    const page = await listFilmCells(projection, history, counts, {
      limit: CELLS_AT_ONCE,
      ...(after === null ? {} : { after }),
    });
    cells.push(...page.cells);
    after = page.next;
  } while (after !== null);
  return projection.read((rows) => {
    const branches = listBranches(rows, history);
    return {
      calls: cells.length,
      tokens: cells.reduce((sum, { tokens }) => sum + tokens, 0),
      ...toolsOf(cells),
      main: mainOf(cells, branches),
      ...callFigures(rows, history, table),
      interventions: countActs(rows, history),
      held: listUnreleasedCalls(rows, history).length,
      end: newestEnd(rows, history),
      beginning: beginningOf(rows, history, branches[0]),
    };
  });
};

const toolsOf = (
  cells: readonly FilmCell[],
): { readonly tools: readonly UsedTool[]; readonly failures: readonly FailedTool[] } => {
  const tools = new Map<string, { calls: number; failed: number }>();
  const failures: FailedTool[] = [];
  for (const { branchId, seq, cycle, decided } of cells)
    for (const { name, state } of decided?.tools ?? []) {
      const tool = tools.get(name) ?? { calls: 0, failed: 0 };
      tools.set(name, tool);
      tool.calls++;
      if (state !== 'failed') continue;
      tool.failed++;
      failures.push({ branchId, seq, cycle, name });
    }
  return {
    tools: [...tools].map(([name, tool]) => ({ name, ...tool })).sort((a, b) => (a.name < b.name ? -1 : 1)),
    failures,
  };
};

/** The calls on the way to the tip of `main`: a branch has those of the one that it comes from, up to where it parted. */
const mainOf = (cells: readonly FilmCell[], branches: readonly BranchRow[]): readonly MainDecision[] => {
  const limits = new Map<number, number>();
  let branch = branches.find(({ name }) => name === 'main') ?? branches[0];
  let limit = Infinity;
  while (branch !== undefined) {
    limits.set(branch.branchId, limit);
    const { parent }: BranchRow = branch;
    limit = Math.min(limit, parent?.seq ?? -1);
    branch = parent === null ? undefined : branches.find(({ branchId }) => branchId === parent.branchId);
  }
  return cells
    .filter(({ branchId, seq }) => seq <= (limits.get(branchId) ?? -1))
    .sort((a, b) => a.cycle - b.cycle)
    .map(decisionIn);
};

const decisionIn = ({ branchId, seq, cycle, decided, call }: FilmCell): MainDecision => {
  const at = { branchId, seq, cycle };
  if (decided === null || (decided.said === 0 && decided.tools.length === 0))
    return { ...at, how: call?.status === 'failed' ? 'failed' : 'unknown', what: '' };
  const { tools } = decided;
  if (tools.length === 0) return { ...at, how: 'answered', what: 'answer' };
  const failed = tools.some(({ state }) => state === 'failed');
  return { ...at, how: failed ? 'failed' : 'called', what: tools.map(({ name }) => name).join(', ') };
};

/** Models, errors and cost of the calls that are recorded in a history, without those that somebody assigned elsewhere. */
const callFigures = (
  rows: RowReader,
  history: string,
  table: PriceTable | null,
): Pick<HistoryFigures, 'models' | 'errors' | 'cost' | 'unpriced'> => {
  const models = new Set<string>();
  const costs: CallPrice[] = [];
  let [errors, unpriced] = [0, 0];
  for (const { model, finished } of eachCall(rows, history)) {
    const name = model ?? finished?.model ?? null;
    if (name !== null) models.add(name);
    if (finished?.status === 'failed' || finished?.status === 'timed out') errors++;
    if (finished?.status !== 'answered') continue;
    const price = table && priceOf(table, finished.model ?? model, finished.usage);
    if (price === null) unpriced++;
    else costs.push(price);
  }
  return { models: [...models].sort(compareCodePoints), errors, cost: sumOfPrices(costs), unpriced };
};

function* eachCall(rows: RowReader, history: string): Generator<CallRow> {
  for (let from = 0; ;) {
    const page = listCallRows(rows, history, { from, limit: ROWS_AT_ONCE });
    for (const call of page) if (call.reassignedTo === null) yield call;
    const last = page.at(-1);
    if (last === undefined || page.length < ROWS_AT_ONCE) return;
    // A frame records the start of one call.
    from = last.location.seq + 1;
  }
}

const countActs = (rows: RowReader, history: string): number => {
  let count = 0;
  for (let from: number | null = 0; from !== null;) {
    const page = listInterventions(rows, history, { from });
    count += page.rows.filter(({ type }) => type !== 'save' && type !== 'annotate').length;
    from = page.next;
  }
  return count;
};

const newestEnd = (rows: RowReader, history: string): ProgramEnd | null => {
  const ended = listRunsIn(rows, history).flatMap(({ run }) => findRecordedRun(rows, history, run) ?? []);
  return ended.sort((a, b) => b.endedAt - a.endedAt)[0]?.end ?? null;
};

const beginningOf = (rows: RowReader, history: string, first: BranchRow | undefined): string | null => {
  if (first === undefined || first.snapshots === 0) return null;
  const [snapshot] = listSnapshots(rows, history, first.branchId, first.seq, { first: 'oldest', limit: 1 });
  return snapshot === undefined ? null : toHex(snapshot.threadHash);
};
