import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Surroundings } from './surroundings.ts';

/**
 * Shows a long text on a terminal page by page, with the program that `PAGER` names (default: less), and gives false where
 * there is no terminal, no need or no such program: then nothing was shown.
 */
export const showInPager = async (
  text: string,
  { stdout, stdin, env }: Pick<Surroundings, 'stdout' | 'stdin' | 'env'>,
): Promise<boolean> => {
  const rows = (stdout as { rows?: number }).rows ?? 0;
  const own = stdout === (process.stdout as unknown);
  if (!own || stdout.isTTY !== true || stdin.isTTY !== true || text.split('\n').length <= rows) return false;
  const pager = env['PAGER'] ?? 'less';
  if (pager === '' || pager === 'cat') return false;
  // As git does: text that fits is printed, colours are shown, and the text stays on the screen.
  const child = spawn(pager, [], {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', ...env },
  });
  // Who leaves the pager early reads no more: that is no fault.
  child.stdin.on('error', () => undefined);
  child.stdin.end(text);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code !== 127;
  } catch {
    return false;
  }
};
