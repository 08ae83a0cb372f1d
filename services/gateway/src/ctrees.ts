import { toWireJson } from '@stemma/api';
import { isOf } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { entryDocument, stagesDocument, type LoggedEvent } from '@stemma/queries';

/**
 * What the stream of a session says of a batch of events: a message for each node that they added to the branch's
 * stream, and one for each snapshot (compiler-stages: http). The last carries the cursor. The session is looked up for each
 * batch: after a rollback a history's id, or a branch's name, means the branch that goes on.
 */
export const ctreesMessages =
  (home: Home, session: string) =>
  async (cursor: string, events: readonly LoggedEvent[]): Promise<readonly string[]> => {
    const texts: string[] = [];
    const branchRef = await home.find(session);
    const addMessage = (type: string, seq: number, payload: object): void => {
      const data = toWireJson({ type, session_id: branchRef.branch, seq, payload });
      texts.push(`event: ${type}\ndata: ${data}\n\n`);
    };
    for (const frame of framesOf(branchRef, events)) {
      if (!(await home.queries.stages.includesFrame(branchRef, frame))) continue;
      const { branchId, seq } = frame;
      const frameBranch: BranchRef = { ...branchRef, branchId };
      for (const entry of await home.queries.stages.frame(frameBranch, seq))
        addMessage('ctree_node', seq, { node: entryDocument(entry) });
      if (!frame.snapshot) continue;
      const position = await home.position(frameBranch, `@s${seq}`);
      addMessage('ctree_snapshot', seq, stagesDocument(await home.queries.stages.compile(position)));
    }
    const last = texts.pop();
    return [...texts, `id: ${cursor}\n${last ?? '\n'}`];
  };

type Frame = { readonly branchId: number; readonly seq: number; readonly snapshot: boolean };

/** The frames of the history among events, and whether each ends in a snapshot. */
const framesOf = ({ history }: BranchRef, events: readonly LoggedEvent[]): Iterable<Frame> => {
  const frames = new Map<number, Frame>();
  for (const { history: eventHistory, branchId, seq, event } of events) {
    if (eventHistory !== history) continue;
    const snapshot = isOf(event, 'snapshot');
    frames.set(seq, { branchId, seq, snapshot: (frames.get(seq)?.snapshot ?? false) || snapshot });
  }
  return frames.values();
};
