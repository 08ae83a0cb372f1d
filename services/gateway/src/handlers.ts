import { openRuns } from '@stemma/agent-loop';
import {
  type AnswerOf,
  type EndpointName,
  type Endpoints,
  type InputOf,
  positionAnswer,
  type StreamedName,
  toWireJson,
} from '@stemma/api';
import { exportTree, threadBytes } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { Position, TreeView } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { toOpenAIMessages } from '@stemma/importers';
import { checkReady } from '@stemma/metrics';
import type { RangeOptions } from '@stemma/selectors';
import { openAllowedMinds } from '@stemma/model-clients';
import { defined } from '@stemma/values';
import { poolHandlers } from './pools.ts';
import { attemptHandlers } from './attempts.ts';
import { auditHandlers } from './audit.ts';
import { branchHandlers } from './branches.ts';
import { causeHandlers } from './causes.ts';
import { doCommand, startHistory } from './commands.ts';
import { correctionHandlers } from './corrections.ts';
import { ctreesHandlers } from './ctrees.ts';
import { doctorAnswer } from './doctor-answer.ts';
import { exchangeHandlers } from './exchanges.ts';
import { openPathHider, type PathHider } from './hide-paths.ts';
import { historyAnswer, historyPage } from './histories.ts';
import { interventionHandlers } from './interventions.ts';
import { loggedAnswer } from './logged-events.ts';
import { poolMapHandlers } from './pool-map.ts';
import { openPreviews } from './preview.ts';
import { questionHandlers } from './prompt-questions.ts';
import type { ProxyBacklog } from './proxy/open-proxy.ts';
import type { RequestClient } from './request-client.ts';
import { searchHandler } from './search.ts';
import { sharedFor } from './shared-for.ts';
import { openSnapshotPages } from './snapshot-page.ts';
import { steeringHandlers } from './steering.ts';
import { openTreeCache } from './tree-cache.ts';
import { nodeDetailAt } from './tree-node.ts';
import { treePage } from './tree-page.ts';

/** What answers each endpoint but those whose answers are made as the client takes them. */
export type Handlers = {
  readonly [Name in Exclude<EndpointName, StreamedName>]: (
    input: InputOf<Endpoints[Name]>,
    client: RequestClient,
  ) => Promise<AnswerOf<Endpoints[Name]>>;
};

/** The options that were given. */
const rangeOptionsOf = (given: object): RangeOptions =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/** What reads the whole log is made once: who asks within so many milliseconds of its end is given the same. */
const READ_INTERVAL = 2_000;

type At = { readonly history: string; readonly at?: string | undefined };

export type HandlerOptions = {
  /** Readiness ends when it aborts. */
  readonly closing?: AbortSignal | undefined;
  readonly hider?: PathHider;
  /** What the proxy in front of the home has still to record. */
  readonly recording?: (() => Promise<ProxyBacklog>) | undefined;
  /** Which minds may be asked, where they are, and their keys. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
};

export const createHandlers = (
  home: Home,
  { closing, hider = openPathHider(home.directory), recording, env = process.env }: HandlerOptions = {},
): Handlers => {
  const previews = openPreviews(home);
  const runs = openRuns(home, { env, allow: openAllowedMinds(env), ...(closing && { closing }) });
  const trees = openTreeCache(home);
  const snapshotPages = openSnapshotPages(home);
  const examine = sharedFor(READ_INTERVAL, () => home.doctor());
  const signed = sharedFor(READ_INTERVAL, () => home.checkpoint());
  const positionAt = async ({ history, at }: At): Promise<Position> =>
    home.position(await home.find(history), at);
  const viewAt = async (at: At): Promise<TreeView> => home.view(await positionAt(at));

  return {
    ...ctreesHandlers(home),
    histories: (page) => historyPage(home, previews, page),
    history: async ({ history }) =>
      historyAnswer(await home.history((await home.find(history)).history), previews),
    snapshots: async ({ history, ...page }) => snapshotPages(await home.find(history), page),
    tree: async (input) => treePage(home, trees, await positionAt(input), input),
    node: async ({ node, ...input }) => {
      const position = await positionAt(input);
      const view = await home.nodeView(position, node);
      const index = view?.tree.indexOf(node);
      if (view === undefined || index === undefined)
        throw fail('E_NODE_NOT_FOUND', `${position.label} has no node ${node}`, { id: node });
      return nodeDetailAt(view, index);
    },
    thread: async ({ provider, ...at }) => {
      const { tree, payloads, thread } = await viewAt(at);
      if (provider === undefined) return threadBytes(tree, payloads, thread);
      return toWireJson(toOpenAIMessages(tree, payloads, thread));
    },
    export: async (at) => {
      const { tree, payloads } = await viewAt(at);
      return exportTree(tree, payloads);
    },
    select: async ({ history, selector, limit, skip }) => {
      const window = defined({ limit, skip });
      const { position, ids } = await home.select(await home.find(history), selector, window);
      return { position: positionAnswer(position), ids: [...ids] };
    },
    ...causeHandlers(home),
    range: async ({ history, selector, ...options }) =>
      home.range(await home.find(history), selector, rangeOptionsOf(options)),
    ...questionHandlers(home),
    ...attemptHandlers(home),
    ...correctionHandlers(home),
    continueBranch: (input, { signal }) => runs.continueBranch(input, signal()),
    retryCall: (input, { signal }) => runs.retryCall(input, signal()),
    ...steeringHandlers(home),
    ...exchangeHandlers(home),
    ...auditHandlers(home),
    ...interventionHandlers(home),
    ...branchHandlers(home),
    search: searchHandler(home),
    ...poolHandlers(home, { env, closing }),
    ...poolMapHandlers(home),
    events: async ({ history: name, from = 0, limit = 100, node }) => {
      const { history } = await home.find(name);
      const about = node === undefined ? {} : { node };
      const page = { from, limit: Math.max(1, Math.min(limit, 1_000)), ...about };
      const events = await home.events(history, page);
      const last = events.at(-1);
      const next = last === undefined ? 0 : last.seq + 1;
      const more =
        last !== undefined &&
        (node === undefined
          ? next < (await home.history(history)).frames
          : (await home.events(history, { ...page, from: next, limit: 1 })).length > 0);
      return { history, events: events.map(loggedAnswer), next: more ? last.seq + 1 : null };
    },
    start: ({ body }) => startHistory(home, body),
    command: async ({ history, body }) => doCommand(home, history, body),
    stats: async () => ({ ...(await home.stats()) }),
    doctor: async () => doctorAnswer(await examine(), hider),
    checkpoint: async () => {
      const { partitions, ...rest } = await signed();
      return { ...rest, partitions: [...partitions] };
    },
    verify: async () => {
      const all = await home.histories();
      const inState = (state: string): string[] =>
        all.filter((one) => one.state === state).map(({ history }) => history);
      const [damaged, defective] = [inState('damaged'), inState('defective')];
      return { ok: damaged.length + defective.length === 0, histories: all.length, damaged, defective };
    },
    healthLive: async () => ({ status: 'ok' }),
    healthReady: async () => {
      // Clients should stop sending requests before the last ones are finished.
      if (closing?.aborted === true) throw fail('E_BUSY', 'it is ending');
      await checkReady(() => home.ready());
      return { status: 'ready', ...(recording && { recording: await recording() }) };
    },
  };
};
