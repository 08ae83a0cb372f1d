import type { StreamBlock } from '../answer-stream.ts';

/** Deltas, by what they go on with. */
export const responsesBlock: StreamBlock = (path, valueAt) => {
  if (path !== 'delta') return null;
  const places = ['type', 'output_index', 'content_index', 'summary_index'].map(
    (name) => valueAt(name) ?? '',
  );
  return places.join(' ');
};
