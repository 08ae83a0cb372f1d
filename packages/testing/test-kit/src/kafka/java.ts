import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a broker is made of. */
export type BrokerLibs = {
  readonly classPath: string;
  /** Of the Java that runs it. */
  readonly flags: readonly string[];
  /** The `bootstrap.checkpoint` that Kafka's tool writes for its version; undefined where it is to write it. */
  readonly features?: string;
};

/** Flags for a short start: a broker of a test runs only for seconds. */
export const JAVA_FLAGS = ['-Xmx512m', '-Xms64m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] as const;

/** 16 bytes in base64url; the first letter is never `-`, which Kafka's tools would take for an option. */
export const newClusterId = (random: Uint8Array = randomBytes(16)): string =>
  Buffer.from(random.map((byte, i) => (i === 0 ? byte & 127 : byte))).toString('base64url');

export type Format = {
  readonly data: string;
  readonly properties: string;
  readonly node: { readonly id: number; readonly cluster: string };
  /** Users that log in by SCRAM from the beginning, as Kafka's tool takes them: `SCRAM-SHA-256=[name=…,password=…]`. */
  readonly scram?: readonly string[];
};

/**
 * Writes the two files without which a broker refuses to start in a directory: the features of its version, and the ids
 * of the cluster and the broker. A directory that has them stays unchanged. Kafka's own tool does this in a second start
 * of Java; since the file of features is always the same, it is copied where `libs.features` names one.
 */
export const formatDirectory = async (
  libs: BrokerLibs,
  { data, properties, node, scram = [] }: Format,
): Promise<void> => {
  const file = join(data, 'meta.properties');
  if (existsSync(file)) return;
  if (libs.features === undefined || scram.length > 0) {
    const tool = ['kafka.tools.StorageTool', 'format', '-t', node.cluster, '-c', properties];
    for (const user of scram) tool.push('--add-scram', user);
    await run('java', [...JAVA_FLAGS, '-cp', libs.classPath, ...tool]);
    return;
  }
  mkdirSync(data, { recursive: true });
  copyFileSync(libs.features, join(data, 'bootstrap.checkpoint'));
  writeFileSync(
    file,
    `version=1\nnode.id=${node.id}\ncluster.id=${node.cluster}\ndirectory.id=${newClusterId()}\n`,
  );
};

/** Runs a program to its end. @throws Error with the end of what it printed */
export const run = (program: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const take = (data: Buffer): void => {
      output = (output + data.toString()).slice(-10_000);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0
        ? resolve(output)
        : reject(new Error(`${program} ended with ${code}: ${output.slice(-1000)}`)),
    );
  });
