/** Ids that no other node of the history has. */
export type CtreeIds = {
  /** The wanted id if a node can have it, else one made from the line's number. */
  readonly take: (wanted: string, line: number) => string;
};

/** Ids that Stemma makes itself: regions and sealed turns. */
const OWN = /^(?:root|sys|seq|ah|t:\d+:\d+)$/;
const MAX_BYTES = 512;

export const newIds = (): CtreeIds => {
  const taken = new Set<string>();
  return {
    take: (wanted, line) => {
      let id = fits(wanted) && !taken.has(wanted) ? wanted : `line:${line}`;
      // A log may have used that id for another node.
      while (taken.has(id)) id += "'";
      taken.add(id);
      return id;
    },
  };
};

const fits = (id: string): boolean =>
  id !== '' && id.isWellFormed() && Buffer.byteLength(id) <= MAX_BYTES && !OWN.test(id);
