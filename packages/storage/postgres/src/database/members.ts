import type { Database } from './database.ts';

/** A process that others can send requests to. */
export type Member = { readonly id: string; readonly url: string };

/** The processes of a group, as the database knows them. */
export type Members = {
  /** Says that this process is there; returns the others that said so within the last `silence` milliseconds, by id. */
  renew(): Promise<readonly Member[]>;
  /** The others learn at their next `renew` that it has gone. */
  leave(): Promise<void>;
};

/**
 * Joins the processes that can be reached at an address. Call `renew` about once a second. That a process is listed says
 * only that it was there a moment ago.
 *
 * @throws every method: the codes of {@link Database}
 */
export const openMembers = (database: Database, { id, url }: Member, silence = 3_000): Members => {
  let joined = false;
  return {
    async renew() {
      // Those that were killed long ago are in nobody's list.
      if (!joined)
        await database.query(`delete from stemma.gateways where seen_at < now() - interval '1 hour'`);
      joined = true;
      await database.query(
        `insert into stemma.gateways (id, url) values ($1, $2)
         on conflict (id) do update set url = excluded.url, seen_at = now()`,
        [id, url],
      );
      const rows = await database.query(
        `select id, url from stemma.gateways
         where id <> $1 and seen_at > now() - $2::integer * interval '1 millisecond' order by id`,
        [id, silence],
      );
      return rows.map(([other, address]) => ({ id: other ?? '', url: address ?? '' }));
    },
    async leave() {
      await database.query('delete from stemma.gateways where id = $1', [id]);
    },
  };
};
