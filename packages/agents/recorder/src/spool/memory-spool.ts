import type { Spool } from './spool.ts';

/** A spool for who has no disk: what waits is lost if the process ends. */
export const openMemorySpool = (limit: number): Spool => {
  let bytes = 0;
  return {
    directory: null,
    begin: () => undefined,
    keep: (id, json) => {
      const size = json.length;
      if (bytes + size > limit) return undefined;
      bytes += size;
      let isThere = true;
      const remove = (): void => {
        if (isThere) bytes -= size;
        isThere = false;
      };
      return { id, size, read: () => json, remove, setAside: remove };
    },
    takeOver: () => [],
    bytes: () => bytes,
    close: () => undefined,
  };
};
