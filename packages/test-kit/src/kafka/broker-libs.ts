import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const POM = join(import.meta.dirname, '../../../../infra/kafka/pom.xml');

/** Where jars are kept: `STEMMA_CACHE`, else `.cache/stemma` below the home directory. */
export const cacheFolder = (environment: NodeJS.ProcessEnv = process.env): string =>
  environment['STEMMA_CACHE'] ?? join(homedir(), '.cache', 'stemma');

/**
 * The folder with the jars of a broker, as infra/kafka/pom.xml lists them; Maven fetches them the first time.
 *
 * @throws Error with what Maven said
 */
export const brokerLibs = async (cache = cacheFolder()): Promise<string> => {
  const [, version = ''] =
    /<artifactId>kafka_[\d.]+<\/artifactId>\s*<version>([\d.]+)</.exec(readFileSync(POM, 'utf8')) ?? [];
  const libs = join(cache, `kafka-${version}`);
  if (existsSync(libs)) return libs;
  mkdirSync(cache, { recursive: true });
  const part = `${libs}.${process.pid}`;
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
  await run('mvn', ['-q', '-B', '-f', POM, goal, `-DoutputDirectory=${part}`]);
  try {
    renameSync(part, libs);
  } catch (error) {
    // Another process was faster.
    rmSync(part, { recursive: true, force: true });
    if (!existsSync(libs)) throw error;
  }
  return libs;
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
