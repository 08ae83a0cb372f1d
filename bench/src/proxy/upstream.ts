import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A model that answers at once, in a process of its own. */
export const startUpstream = async (): Promise<{
  readonly url: string;
  readonly end: () => Promise<void>;
}> => {
  const main = fileURLToPath(new URL('./upstream-main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    url: line.replace(/^listening at /, ''),
    end: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
};
