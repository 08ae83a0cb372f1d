import { joinBytes } from '@stemma/canonical';
import { apiOf } from '@stemma/model-apis';
import type { ServedCalls } from '@stemma/reruns';
import type { CallNotes } from './exchange-notes.ts';

/**
 * What becomes of a call of a rerun: something recorded answers it, and nothing of it is recorded; or it goes to its provider, and is
 * recorded on the branch that `served` names.
 */
export const rerunNotes = (
  served: ServedCalls,
  { started, ended }: Pick<CallNotes, 'started' | 'ended'>,
): CallNotes => {
  let live: number | undefined;
  return {
    isClosed: true,
    started: () => undefined,
    steer: async (entry, body) => {
      const { method, path, coding } = entry;
      const reply = await served.reply({
        ...{ api: apiOf(method, path), method, path, coding },
        body: joinBytes(body),
      });
      if (reply.kind === 'served') return { kind: 'served', reply };
      live = reply.number;
      started({ ...entry, place: { name: reply.place }, sentAt: Date.now() }, body);
      return { kind: 'send', body: null };
    },
    ended: async (entry, body) => {
      if (live === undefined) return;
      await ended(entry, body);
      const { method, path, httpStatus, contentType, coding } = entry;
      const api = apiOf(method, path);
      await served.liveEnded(live, { api, httpStatus, contentType, coding, body: joinBytes(body) });
    },
  };
};
