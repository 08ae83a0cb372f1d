import { eventsFrom } from '@stemma/agent-loop';
import { valueText, type AnswerOf, type QUESTIONS } from '@stemma/api';
import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { removedIds, type RecordedNode } from '@stemma/events';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { LoggedEvent } from '@stemma/queries';
import {
  definitionsIn,
  isFailedBlock,
  toolCallOf,
  toolCallsOf,
  valueChanges,
  type CalledTool,
  type ToolDefinition,
} from '@stemma/model-apis';
import { pathLimits } from '@stemma/pools';
import type { ContractAnswer } from '../answer.ts';

const MOST_TOOLS = 1_000;
const MOST_CHANGES = 100;

/** Reads the events on the way to the tip of a branch, once; of all histories, on the way to the tip of each one's `main`. */
export const tools: ContractAnswer<'tools'> = async ({ home }, { history: name, from = 0, limit = 100 }) => {
  const found: ToolUses = new Map();
  const branchRef = name === undefined ? null : await home.find(name);
  const read = branchRef === null ? await eachMain(home) : [branchRef];
  for (const one of read) {
    const limits = await pathLimits(home, await home.position(one));
    const uses = openToolUses(found);
    for await (const logged of eventsFrom(home, one.history))
      if (logged.seq <= (limits.get(logged.branchId) ?? -1)) uses.add(logged);
  }
  const all = listed(found);
  const end = from + Math.max(1, Math.min(limit, MOST_TOOLS));
  return {
    history: branchRef?.history ?? null,
    branch: branchRef?.branch ?? null,
    branchId: branchRef?.branchId ?? null,
    total: all.length,
    tools: all.slice(from, end),
    next: end < all.length ? end : null,
  };
};

/** The first branch of every history, in the order in which the histories began. */
const eachMain = async ({ read }: Pick<Home, 'read'>): Promise<readonly BranchRef[]> =>
  [...(await read.histories())]
    .sort((a, b) => a.startedAt - b.startedAt || (a.history < b.history ? -1 : 1))
    .map(({ history }) => branchRefOf(history, 0));

type ToolUse = AnswerOf<typeof QUESTIONS.tools>['tools'][number];
type Place = ToolUse['changes'][number]['at'];
type Counted = { -readonly [Field in keyof ToolUse]: ToolUse[Field] } & { definition: ToolDefinition | null };

/** What is known of each tool, by its name. */
type ToolUses = Map<string, Counted>;

const listed = (uses: ToolUses): ToolUse[] =>
  [...uses.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ definition: _definition, ...use }) => use);

/** Adds to the uses what the events of one history show, in their order. */
const openToolUses = (uses: ToolUses) => {
  const lists = new Map<string, ReadonlyMap<string, ToolDefinition>>();
  /** The tool of each call, by its id; and the calls whose result was counted. */
  const toolOf = new Map<string, string>();
  const answered = new Set<string>();
  const seen = openSeenCalls();
  let intervened = -1;

  const useOf = (name: string): Counted => {
    const known = uses.get(name);
    if (known !== undefined) return known;
    const fresh: Counted = {
      name,
      calls: 0,
      answered: 0,
      failed: 0,
      duration_ms: null,
      timed: 0,
      offered: null,
      called: null,
      changes: [],
      changed: 0,
      definition: null,
    };
    uses.set(name, fresh);
    return fresh;
  };

  const offer = (tool: string, definition: ToolDefinition, at: Place): void => {
    const use = useOf(tool);
    use.offered = { calls: (use.offered?.calls ?? 0) + 1, first: use.offered?.first ?? at, last: at };
    const before = use.definition;
    use.definition = definition;
    if (before === null || before === definition) return;
    for (const change of valueChanges(before, definition)) {
      use.changed++;
      use.changes.push({
        at,
        path: change.path,
        before: valueText(change.before),
        after: valueText(change.after),
      });
      if (use.changes.length > MOST_CHANGES) use.changes.shift();
    }
  };

  const call = (called: Called, at: Place, node: string | null): void => {
    const { id, name } = called;
    if (id !== null) toolOf.set(id, name);
    if (!seen.isAnother(called, node)) return;
    if (id !== null) answered.delete(id);
    const use = useOf(name);
    use.calls++;
    use.called = { first: use.called?.first ?? at, last: at };
  };

  const result = (node: RecordedNode): void => {
    const id = node['data_tool_call_id'];
    const name = typeof id === 'string' ? toolOf.get(id) : node['data_name'];
    if (typeof name !== 'string' || (typeof id === 'string' && answered.has(id))) return;
    const use = uses.get(name);
    if (use === undefined) return;
    if (typeof id === 'string') answered.add(id);
    use.answered++;
    if (isFailedBlock(node.role, node)) use.failed++;
    const note = node['data_message'] as WideJson | undefined;
    const fields = isJsonObject(note) ? note['fields'] : undefined;
    const took = isJsonObject(fields) ? fields['duration_ms'] : undefined;
    if (typeof took !== 'number' || took < 0) return;
    use.duration_ms = (use.duration_ms ?? 0) + took;
    use.timed++;
  };

  return {
    add: ({ history, event, seq, index, branchId }: LoggedEvent): void => {
      const at: Place = { history, branchId, seq, label: `@s${seq}` };
      if (event.type === 'InterventionRecorded') intervened = seq;
      if (event.type === 'CallStarted') {
        const given = event.payload['data_tools'] as WideJson | undefined;
        const own = `${seq}.${index}`;
        if (given !== undefined) lists.set(own, definitionsIn(given));
        const key = event.toolsAt === null ? own : `${event.toolsAt.seq}.${event.toolsAt.index}`;
        const shown: Place = { history, branchId: event.branchId, seq: event.seq, label: `@s${event.seq}` };
        for (const [tool, definition] of lists.get(key) ?? []) offer(tool, definition, shown);
      }
      if (event.type === 'CallFinished')
        for (const called of callsAnswered(event.payload as WideJsonObject)) call(called, at, null);
      for (const id of removedIds(event)) seen.remove(id);
      // What an observer put there, no model called.
      if ((event.type !== 'NodeInserted' && event.type !== 'NodeImported') || seq === intervened) return;
      if (event.node.kind === 'result') result(event.node);
      if (event.node.kind !== 'call') return;
      const called = toolCallOf((event.node['content'] ?? null) as WideJson);
      if (called !== null) call(keyed(called), at, event.node.id);
    },
  };
};

/** A call of a tool; its key is the same for the same id and arguments. */
type Called = { readonly id: string | null; readonly name: string; readonly key: string };

const keyed = ({ id, name, input }: CalledTool): Called => ({
  id,
  name,
  key: canonicalJson([id, name, input]),
});

/**
 * Tells a call from what repeats it. An answer and the node that it becomes are one call. Two answers, or two nodes
 * that are in the context at once, are two, although they share an id; a node that returns is the call of before.
 */
const openSeenCalls = () => {
  const seen = new Map<string, { answers: number; nodes: number; counted: number }>();
  const keyOf = new Map<string, string>();
  return {
    /** `node` is the call's node; null: an answer of a model had it. */
    isAnother: ({ id, key }: Called, node: string | null): boolean => {
      if (id === null) return true;
      const known = seen.get(key) ?? { answers: 0, nodes: 0, counted: 0 };
      seen.set(key, known);
      if (node === null) known.answers++;
      else {
        known.nodes++;
        keyOf.set(node, key);
      }
      if (Math.max(known.answers, known.nodes) <= known.counted) return false;
      known.counted++;
      return true;
    },
    remove: (node: string): void => {
      const known = seen.get(keyOf.get(node) ?? '');
      if (known !== undefined && keyOf.delete(node)) known.nodes--;
    },
  };
};

/** The calls of an answer, each once where its choices repeat it. */
const callsAnswered = (payload: WideJsonObject): readonly Called[] => {
  const answers = [payload['data_answer'], payload['data_choices']].flat() as WideJson[];
  const calls = answers.flatMap(toolCallsOf).map(keyed);
  const keys = new Set<string>();
  return calls.filter(({ id, key }) => {
    const fresh = id === null || !keys.has(key);
    keys.add(key);
    return fresh;
  });
};
