import { isLoopback } from '@stemma/machine';
import { openDatabase, openMembers, type Member } from '@stemma/postgres';
import { randomUUID } from 'node:crypto';
import { pathOf } from '../router.ts';
import type { HttpAnswer, StreamedAnswer } from '../front/answer.ts';
import type { CountAtDoor } from '../front/door-counts.ts';
import type { FrontRequest } from '../front/open-front.ts';
import { forward, FORWARDED } from './forward.ts';
import { historyOfCommand, ownerAmong } from './owner.ts';

/** The gateways on the same rows. */
export type Peers = {
  /** Has the owner of a request's history answer it, or answers it here. */
  readonly answer: (request: FrontRequest, here: AnswerHere) => Promise<HttpAnswer | StreamedAnswer>;
  readonly close: () => Promise<void>;
};

type AnswerHere = () => Promise<HttpAnswer | StreamedAnswer>;

/** Milliseconds between two looks at who is there, and after which nobody is believed to be there any more. */
const INTERVAL = 1_000;
const SILENCE = 3_000;

/** The owner answers within so many milliseconds, or the request is answered here. */
const DEADLINE = 10_000;

/** Servers listen on loopback addresses only: nothing is sent anywhere else, whatever the database says. */
const isReachable = ({ url }: Member): boolean => {
  const host = /^http:\/\/([^/]+):\d{1,5}\/?$/.exec(url)?.[1];
  return host !== undefined && isLoopback(host);
};

/** What a gateway knows of the others. */
type KnownPeers = {
  others: readonly Member[];
  /** When the database said so. */
  seenAt: number;
  hasEnded: boolean;
  timer: NodeJS.Timeout | undefined;
  /** The newest look at who is there. */
  looking: Promise<void>;
};

/**
 * Joins the gateways on the same database, so that each history is written by one of them: two that write to it overtake each
 * other again and again. Who owns a history is only a habit. The log decides which frame counts, every command has an
 * id, and so a command that two gateways decide on has one effect.
 *
 * @param url the address of this gateway
 * @throws E_USAGE for an address of a database that cannot be read
 */
export const openPeers = (rows: string, url: string, count: CountAtDoor): Peers => {
  const database = openDatabase(rows, { connect: 2_000, answer: 2_000 });
  const self: Member = { id: randomUUID(), url };
  const members = openMembers(database, self, SILENCE);
  const known: KnownPeers = {
    others: [],
    seenAt: -Infinity,
    hasEnded: false,
    timer: undefined,
    looking: Promise.resolve(),
  };

  const look = async (): Promise<void> => {
    try {
      const began = performance.now();
      known.others = (await members.renew()).filter(isReachable);
      known.seenAt = began;
    } catch {
      // While the database is away everybody answers for himself.
    }
    if (known.hasEnded) return;
    known.timer = setTimeout(() => {
      known.looking = look();
    }, INTERVAL).unref();
  };
  known.looking = look();

  const ownerOf = ({ method, target, header }: FrontRequest): Member | undefined => {
    const { others, seenAt } = known;
    if (others.length === 0 || header(FORWARDED) !== undefined || performance.now() - seenAt > SILENCE)
      return undefined;
    const history = historyOfCommand(method, pathOf(target));
    const owner = history === undefined ? undefined : ownerAmong([self, ...others], history);
    return owner === self ? undefined : owner;
  };

  const askOwner = async (
    owner: Member,
    request: FrontRequest,
    here: AnswerHere,
  ): Promise<HttpAnswer | StreamedAnswer> => {
    try {
      const given = await forward(owner.url, request, self.id, DEADLINE);
      count('stemma_http_forwarded_total', { outcome: 'answered' });
      return given;
    } catch {
      count('stemma_http_forwarded_total', { outcome: 'failed' });
      // It may have been recorded all the same: the command's id makes the second one a repeat.
      known.others = known.others.filter((member) => member !== owner);
      return here();
    }
  };

  return {
    answer: (request, here) => {
      const owner = ownerOf(request);
      return owner === undefined ? here() : askOwner(owner, request, here);
    },
    async close() {
      known.hasEnded = true;
      clearTimeout(known.timer);
      await known.looking;
      await members.leave().catch(() => undefined);
      await database.close();
    },
  };
};
