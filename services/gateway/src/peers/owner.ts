import { historyId } from '@stemma/history';
import type { Member } from '@stemma/postgres';
import { createHash } from 'node:crypto';

const COMMANDS = /^\/api\/histories\/([^/]+)\/(?:commands|calls|load)$/;

/** The history that a request writes to, as far as its path tells; undefined for a request that writes to none. */
export const historyOfCommand = (method: string, path: string): string | undefined => {
  const named = method === 'POST' ? COMMANDS.exec(path)?.[1] : undefined;
  if (named === undefined) return undefined;
  let text: string;
  try {
    text = decodeURIComponent(named);
  } catch {
    return undefined;
  }
  const [name = ''] = text.split(':', 1);
  // A name that was given to a history later has another owner than its id. That costs time, and does no harm.
  return /^h[a-z2-7]{20}$/.test(name) ? name : historyId(name, '');
};

/**
 * The gateway that a history's commands go to: the one with the highest hash (rendezvous hashing: Thaler, Ravishankar
 * 1998). So all agree who know the same gateways, and one that comes or goes changes the owner of its own share only.
 */
export const ownerAmong = (members: readonly Member[], history: string): Member | undefined => {
  let owner: Member | undefined;
  let highest = '';
  for (const member of members) {
    const weight = createHash('sha256').update(`${member.id}\n${history}`).digest('hex');
    if (weight > highest) [owner, highest] = [member, weight];
  }
  return owner;
};
