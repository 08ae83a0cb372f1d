import { LRUCache } from 'lru-cache';
import type { HttpAnswers, Client, ClientPorts } from '../answers.ts';
import type { Pieces } from '../front/answer.ts';
import { openPrograms } from '../questions-apart/programs.ts';
import type { Outbox } from './outbox.ts';
import type { FromHome, ToHome } from './thread-messages.ts';

/** Answers what the thread of the server asks. */
export type AskedAnswerer = {
  readonly hear: (message: Extract<ToHome, { kind: 'ask' | 'pull' | 'cancel' }>) => void;
};

type Asked = Extract<ToHome, { kind: 'ask' }>;

/** Who asked, as far as that is known while the answer is made. */
type AskedClient = { gone: boolean; act: (() => void) | undefined };

/** Answers with this many characters are encoded here and moved: the thread of the connections would do neither in a moment. */
const LARGE = 16 * 1024;

/** Connections whose program is remembered. */
const MAX_CONNECTIONS = 10_000;

/** The programs of connections: to look takes a while, and a connection keeps its own. */
const openConnectionPrograms = (): ((connection: number, ports: ClientPorts) => Promise<string>) => {
  const programs = openPrograms();
  const known = new LRUCache<number, Promise<string>>({ max: MAX_CONNECTIONS });
  return (connection, ports) => {
    const found =
      known.get(connection) ?? programs.find(ports).then((program) => program ?? `connection ${connection}`);
    known.set(connection, found);
    return found;
  };
};

/** @param answers throws nothing: an error is the answer that its client is given */
export const openAskedAnswerer = (answers: HttpAnswers, tell: Outbox<FromHome>['put']): AskedAnswerer => {
  const clients = new Map<number, AskedClient>();
  const streams = new Map<number, Pieces>();
  const programOf = openConnectionPrograms();

  const clientOf = ({ connection, ports }: Asked, client: AskedClient): Client => ({
    connection,
    program: () => programOf(connection, ports),
    onGone: (act) => {
      if (client.gone) act();
      else client.act = act;
    },
  });
  const answer = async (asked: Asked): Promise<void> => {
    const { id, name, input } = asked;
    const client: AskedClient = { gone: false, act: undefined };
    clients.set(id, client);
    const given = await answers.ask(name, input, clientOf(asked, client));
    if ('pieces' in given) {
      streams.set(id, given.pieces);
      tell({ kind: 'response', id, status: given.status, headers: given.headers, body: undefined });
      if (client.gone) drop(id);
      return;
    }
    clients.delete(id);
    if (typeof given.body === 'string' && given.body.length >= LARGE) {
      const body = new TextEncoder().encode(given.body);
      tell({ kind: 'response', id, ...given, body }, [body.buffer]);
    } else tell({ kind: 'response', id, ...given });
  };
  const pull = async (id: number): Promise<void> => {
    const pieces = streams.get(id);
    if (pieces === undefined) return;
    let broken = false;
    const value = await pieces.next().catch(() => void (broken = true));
    // A piece may be a view of memory that others use: it is copied, not moved.
    if (value !== undefined) tell({ kind: 'piece', id, bytes: value as Uint8Array<ArrayBuffer> });
    else {
      tell({ kind: 'end', id, broken });
      forget(id);
    }
  };
  const forget = (id: number): void => {
    clients.delete(id);
    streams.delete(id);
  };
  const drop = (id: number): void => {
    const pieces = streams.get(id);
    const client = clients.get(id);
    if (client !== undefined) {
      client.gone = true;
      client.act?.();
    }
    forget(id);
    pieces?.cancel();
  };
  return {
    hear: (message) => {
      if (message.kind === 'ask') void answer(message);
      else if (message.kind === 'pull') void pull(message.id);
      else drop(message.id);
    },
  };
};
