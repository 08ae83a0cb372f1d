import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process that takes one processor for as long as it lives: what a machine does where agents and tests run beside Stemma. */
type Load = { readonly end: () => Promise<void> };

const startLoad = async (): Promise<Load> => {
  const child = spawn(process.execPath, ['--eval', 'process.stdout.write("busy\\n", () => { for (;;); });'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  await once(child.stdout, 'data');
  return {
    end: async () => {
      process.off('exit', kill);
      const gone = once(child, 'exit');
      kill();
      await gone;
    },
  };
};

/** Does the work while a process takes one processor. */
export const besideLoad = async <T>(work: () => Promise<T>): Promise<T> => {
  const load = await startLoad();
  try {
    return await work();
  } finally {
    await load.end();
  }
};
