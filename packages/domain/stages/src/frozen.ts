import type { StagesConfig } from './config.ts';
import type { NodeFacts } from './describe-node.ts';
import { headerItem, type HeaderStage } from './header.ts';
import type { StageSelection } from './select.ts';

/** FROZEN, which replays are compared by: HEADER itself if it mirrors, else HEADER with hashes only. */
export const frozenStage = (
  nodes: readonly NodeFacts[],
  { indexes }: StageSelection,
  header: HeaderStage,
  mode: StagesConfig['frozen'],
): HeaderStage =>
  mode === 'mirror' || header.header_mode === 'hash_only'
    ? header
    : {
        ...header,
        header_mode: 'hash_only',
        messages: indexes
          .map((index) => nodes[index] as NodeFacts)
          .filter(({ kind }) => kind === 'message')
          .map(headerItem),
      };
