import type { StreamBlock } from './answer-stream.ts';
import type { ModelApi } from './api-names.ts';
import { formatOf } from './apis.ts';

/** Tells the blocks of a stream apart; of an API that is not known every string is one by itself. */
export const streamBlocksOf = (api: ModelApi): StreamBlock =>
  api === 'other' ? () => null : formatOf(api).openStreamBlocks();
