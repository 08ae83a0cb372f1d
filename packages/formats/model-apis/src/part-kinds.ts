/** The types of parts of a message that hold what a model thought, in whatever API. */
export const THINKING_PARTS: ReadonlySet<string> = new Set([
  'thinking',
  'thought',
  'redacted_thinking',
  'reasoning',
]);

/** The types of parts that are images. */
export const IMAGE_PARTS: ReadonlySet<string> = new Set(['image', 'image_url', 'input_image']);

/** The types of parts that are texts. */
export const TEXT_PARTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);
