import type { Home } from '@stemma/home';
import { sourceOfConversation, type ImportItem } from '@stemma/importers';

/** Which of the imported conversations led to which: it is recorded when all files are read, in whatever order they come. */
export type ImportLinks = {
  readonly add: (item: Extract<ImportItem, { readonly kind: 'report' }>, at: Place) => void;
  /** Links them. @returns what a person should know, in sentences */
  readonly record: (open: () => Promise<Home>) => Promise<readonly string[]>;
};

/** Where a conversation is. */
type Place = { readonly history: string; readonly branchId: number };

/** What files say of a conversation that is somewhere's sub-agent. */
type Child = {
  readonly source: string;
  at: Place | null;
  parent: { readonly source: string; readonly toolCall?: string | undefined };
  told: readonly string[];
};

export const openImportLinks = (): ImportLinks => {
  /** By the sources of the conversations. */
  const children = new Map<string, Child>();
  const histories = new Map<string, string>();
  return {
    add({ report: { mapping, links } }, at) {
      if (links === undefined) return;
      const source = sourceOfConversation(mapping, links.key);
      histories.set(source, at.history);
      const { parent, told } = links;
      if (parent !== undefined) {
        const own = { source: sourceOfConversation(mapping, parent.key), toolCall: parent.toolCall };
        const known = children.get(source)?.parent;
        children.set(source, { source, at, told, parent: known?.toolCall === undefined ? own : known });
      }
      // The file with the call knows best: it may be of another sub-agent.
      for (const { key, toolCall } of links.started) {
        const started = sourceOfConversation(mapping, key);
        const { at: place = null, told: texts = [] } = children.get(started) ?? {};
        children.set(started, { source: started, at: place, told: texts, parent: { source, toolCall } });
      }
    },
    async record(open) {
      if (children.size === 0) return [];
      const home = await open();
      const all = [...children.values()];
      children.clear();
      const linked = await home.calls.linkImports(
        all.map(({ source, at, parent, told }) => ({
          branch: at,
          source,
          parent: { ...parent, history: histories.get(parent.source) ?? null, told },
        })),
      );
      const here = all.flatMap(({ at }, i) => (at === null ? [] : [linked[i] === true]));
      const left = here.filter((isLinked) => !isLinked).length;
      return left === 0
        ? []
        : [
            `${left} of ${here.length} conversations of sub-agents are not linked to a call: no file that is here says which one led to them`,
          ];
    },
  };
};
