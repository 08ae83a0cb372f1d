import { openRuns } from '@stemma/agent-loop';
import {
  callAnswer,
  commandAnswer,
  commandOfRequest,
  positionAnswer,
  startStep,
  toWireJson,
} from '@stemma/api';
import type { WideJson } from '@stemma/canonical';
import { exportTree, threadBytes } from '@stemma/context-tree';
import { historyId, parseCommand } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { toOpenAIMessages } from '@stemma/importers';
import { defined } from '@stemma/values';
import type { Backend } from './backend.ts';

export { openHomeRecording } from './home-recording.ts';

/** The backend of a home that this process opens. @throws what `openHome` throws */
export const openEmbedded = async (directory: string): Promise<Backend> =>
  backendOf(await openHome({ directory, create: true }));

const backendOf = (home: Home): Backend => {
  const viewAt = async (history: string, at: string | undefined) =>
    home.read.view(await home.position(await home.find(history), at));
  // Who opens a home asks whom they like: the keys are those of their own process.
  const runs = openRuns(home, {});
  const { signal } = new AbortController();
  return {
    find: async (name) => {
      const { history, branch } = await home.find(name);
      return { history, branch };
    },
    start: async ({ body: { id, name = null, thread, erasable, ...who } }) => {
      const steps = [startStep({ name, thread, erasable })];
      const where = { history: historyId(name, id), branchId: 0 };
      return commandAnswer(
        await home.submit(parseCommand({ ...commandOfRequest({ id, ...who }), ...where, steps })),
      );
    },
    command: async ({ history, body: { steps, ...request } }) => {
      const { branchRef: line, steps: placed } = await home.branches.resolveSteps(
        await home.find(history),
        request.id,
        steps,
      );
      const where = { history: line.history, branchId: line.branchId };
      return commandAnswer(
        await home.submit(parseCommand({ ...commandOfRequest(request), ...where, steps: placed })),
      );
    },
    recordCall: async ({ history, body: { messages, ...request } }) => {
      const call = { ...commandOfRequest(request), messages: messages as readonly WideJson[] };
      return callAnswer(await home.calls.recordCall(await home.find(history), call));
    },
    select: async ({ history, selector, limit, skip }) => {
      const window = defined({ limit, skip });
      const { position, ids } = await home.read.select(await home.find(history), selector, window);
      return { position: positionAnswer(position), ids: [...ids] };
    },
    diff: async ({ history, a, b }) => {
      const { added, removed, changed } = await home.read.diff(await home.find(history), a, b);
      const fields = changed.map((one) => ({ id: one.id, fields: [...one.fields] }));
      return { added: [...added], removed: [...removed], changed: fields };
    },
    export: async ({ history, at }) => {
      const { tree, payloads } = await viewAt(history, at);
      return exportTree(tree, payloads);
    },
    thread: async ({ history, at, provider }) => {
      const { tree, payloads, thread } = await viewAt(history, at);
      if (provider === undefined) return threadBytes(tree, payloads, thread);
      return toWireJson(toOpenAIMessages(tree, payloads, thread));
    },
    snapshots: async (history) =>
      (await home.read.snapshots(await home.find(history))).map(
        ({ label, cycle, seq, treeHash, threadHash, blocks }) => ({
          label,
          cycle,
          seq,
          treeHash,
          threadHash,
          blocks,
        }),
      ),
    continueBranch: (input) => runs.continueBranch(input, signal),
    retryCall: (input) => runs.retryCall(input, signal),
    close: () => home.close(),
  };
};
