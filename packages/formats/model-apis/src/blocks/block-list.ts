import type { ItemList } from '../api-format.ts';
import type { BlockForm } from './block-form.ts';
import { blockMessages, isAssistants } from './read-blocks.ts';

/** The list of messages of an API of blocks, which is read item by item. */
export const blockList = (form: BlockForm): ItemList => ({
  items: form.list,
  system: form.system,
  ofSystem: (system) => blockMessages(form, system, []),
  ofItems: (items, before) =>
    before === undefined
      ? blockMessages(form, undefined, items)
      : blockMessages(form, undefined, [before, ...items]).slice(
          blockMessages(form, undefined, [before]).length,
        ),
  begins: (item) => !form.joinsAssistants || !isAssistants(form, item),
});
