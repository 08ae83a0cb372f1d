import type { ClientPorts } from '../answers.ts';
import { readdir, readFile, readlink } from 'node:fs/promises';

/**
 * Finds the program at the other end of a connection: all clients of a loopback address have that address, so what tells
 * one from another is the process. Known on Linux, of processes of the same user; elsewhere undefined.
 */
export type Programs = { readonly find: (ports: ClientPorts) => Promise<string | undefined> };

type Seen = { readonly sockets: ReadonlyMap<string, string>; readonly owners: ReadonlyMap<string, string> };

const NOTHING: Seen = { sockets: new Map(), owners: new Map() };

export const openPrograms = (): Programs => {
  let running: Promise<Seen> = Promise.resolve(NOTHING);
  let next: Promise<Seen> | undefined;
  /** What a look that begins from now on sees: one look serves all who ask before it begins. */
  const look = (): Promise<Seen> =>
    (next ??= running.then(() => {
      next = undefined;
      return (running = see().catch(() => NOTHING));
    }));
  return {
    find: async ({ remote, local }) => {
      const { sockets, owners } = await look();
      const socket = sockets.get(`${remote} ${local}`);
      return socket === undefined ? undefined : owners.get(socket);
    },
  };
};

const see = async (): Promise<Seen> => {
  const [four, six] = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  const sockets = new Map(`${four}${six}`.split('\n').flatMap(socketIn));
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const owners = new Map((await Promise.all(processes.map(socketsOf))).flat());
  return { sockets, owners };
};

/** `  12: 0100007F:A2C4 0100007F:10DD 01 … inode`: the end of a connection, by its own port and the other's. */
const socketIn = (line: string): (readonly [ports: string, inode: string])[] => {
  const [, own = '', other = '', , , , , , , inode = ''] = line.trim().split(/\s+/);
  const port = (address: string): number => parseInt(address.slice(address.lastIndexOf(':') + 1), 16);
  return /^\d+$/.test(inode) && inode !== '0' ? [[`${port(own)} ${port(other)}`, inode]] : [];
};

const socketsOf = async (process: string): Promise<(readonly [inode: string, process: string])[]> => {
  const files = await readdir(`/proc/${process}/fd`).catch(() => []);
  const links = await Promise.all(
    files.map((file) => readlink(`/proc/${process}/fd/${file}`).catch(() => '')),
  );
  return links.flatMap((link) => {
    const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
    return inode === undefined ? [] : [[inode, process] as const];
  });
};
