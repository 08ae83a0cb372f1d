import { statfsSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { peerVersion } from './peers/install.ts';
import { bytes } from './table.ts';

/** Names of the file systems that `statfs` knows by number (Linux, magic.h). */
const fileSystems: Readonly<Record<number, string>> = {
  0xef53: 'ext2/3/4',
  0x9123683e: 'btrfs',
  0x58465342: 'xfs',
  0x01021994: 'tmpfs',
  0x794c7630: 'overlayfs',
  0x2fc12fc1: 'zfs',
  0x6969: 'nfs',
};

export type Machine = {
  readonly cpu: string;
  readonly cores: number;
  readonly memory: string;
  readonly system: string;
  readonly node: string;
  /** Of the folder that everything is written to. */
  readonly fileSystem: string;
  readonly peers: Readonly<Record<string, string>>;
};

const peers = [
  '@event-driven-io/emmett',
  '@event-driven-io/emmett-sqlite',
  'sqlite3',
  '@langchain/langgraph',
  '@langchain/langgraph-checkpoint-sqlite',
  'better-sqlite3',
  'css-select',
];

/** What the figures were measured on and, with peers, which must be installed, against. */
export const machine = (scratch: string, withPeers: boolean): Machine => {
  const { type } = statfsSync(scratch);
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memory: bytes(totalmem()),
    system: `${platform()} ${release().split('-')[0] ?? ''} ${arch()}`,
    node: process.version,
    fileSystem: fileSystems[type] ?? `0x${type.toString(16)}`,
    peers: withPeers ? Object.fromEntries(peers.map((name) => [name, peerVersion(name)])) : {},
  };
};

/** One line of it for people. */
export const describeMachine = (found: Machine): string =>
  [
    `${found.cpu} × ${found.cores}, ${found.memory}, ${found.system}, ${found.fileSystem}, Node.js ${found.node}`,
    Object.entries(found.peers)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  ]
    .filter((part) => part !== '')
    .join('; ');
