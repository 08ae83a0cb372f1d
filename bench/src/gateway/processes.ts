import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Services of Stemma in processes of their own. */
export type Processes = {
  /** Resolves with what the service wrote when it matches. @throws an Error if it ends before */
  readonly start: (
    service: 'gateway' | 'projector',
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    ready: RegExp,
  ) => Promise<string>;
  /** Of the service that was started last. */
  readonly pid: () => number;
  readonly end: () => Promise<void>;
};

export const openProcesses = (): Processes => {
  const children: ChildProcess[] = [];
  return {
    start: async (service, args, env, ready) => {
      const main = fileURLToPath(new URL(`../../../services/${service}/src/main.ts`, import.meta.url));
      const child = spawn(process.execPath, [main, ...args], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      return new Promise((resolve, reject) => {
        let said = '';
        child.stdout.on('data', (text: Buffer) => {
          said += text.toString();
          const found = ready.exec(said);
          if (found) resolve(found[1] ?? '');
        });
        child.on('exit', () => reject(new Error(`${service} ended: ${said}`)));
      });
    },
    pid: () => children.at(-1)?.pid ?? 0,
    end: async () => {
      for (const child of children.splice(0)) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
    },
  };
};
