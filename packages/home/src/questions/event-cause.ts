import type { HistoryEvent } from '@stemma/events';
import type { Cause } from '@stemma/history';

/** What an event did to a node itself: nothing, or why it came, went or changed (causes: one per event). */
export const eventCause = (event: HistoryEvent, id: string): Cause | null => {
  switch (event.type) {
    case 'NodeInserted':
      return event.node.id === id ? { kind: 'mutation', op: 'insert', by: null } : null;
    case 'NodeImported':
      return event.node.id === id ? { kind: 'import' } : null;
    case 'NodeReplaced':
      return event.id === id ? { kind: 'mutation', op: 'replace', by: null } : null;
    case 'NodeMoved':
      return event.id === id ? { kind: 'mutation', op: 'move', by: null } : null;
    case 'NodeRemoved':
      if (event.id === id) return { kind: 'mutation', op: 'remove', by: null };
      return event.subtree.includes(id) ? { kind: 'mutation', op: 'remove', by: event.id } : null;
    case 'NodeExpired':
      return event.id === id ? { kind: 'expiry' } : null;
    case 'NodeCascaded':
      return event.id === id ? { kind: 'cascade', why: event.why, by: event.by } : null;
    case 'NodePruned':
      return event.id === id ? { kind: 'pruning', rule: event.rule, rank: event.rank } : null;
    default:
      return null;
  }
};
