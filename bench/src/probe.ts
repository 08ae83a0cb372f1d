import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What a probe gives, and the most memory its process had, in bytes. */
export type Probed<T> = {
  readonly value: T;
  /** All that was resident: pages of mapped files too, which the system takes back when it needs them. */
  readonly peak: number;
  /** What the process had of its own, sampled every 50 ms; null where the system does not show it (Linux does). */
  readonly own: number | null;
};

const anonymous = (pid: number): number | null => {
  try {
    const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
};

/** A measurement that ended well. */
type MeasuredProbe = { readonly name: string; readonly input: unknown } & Probed<unknown>;

let measured: MeasuredProbe[] = [];

/** What was measured since this was called last, in the order in which it ended. */
export const takeMeasured = (): readonly MeasuredProbe[] => {
  const taken = measured;
  measured = [];
  return taken;
};

/**
 * Runs one measurement in a process of its own: no heap, no compiled code and no page of another measurement is in it.
 *
 * @param onLine called with each line that the process writes before its answer, as it comes
 * @throws an Error with what the process wrote when it fails.
 */
export const probe = <T>(
  name: string,
  input: unknown,
  onLine: (line: string) => void = () => {},
): Promise<Probed<T>> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('probe-main.ts', import.meta.url)), name, JSON.stringify(input)],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    let own: number | null = null;
    const sampling = setInterval(() => {
      const now = child.pid === undefined ? null : anonymous(child.pid);
      if (now !== null) own = Math.max(own ?? 0, now);
    }, 50);
    const keep = (probed: Probed<T>): void => {
      measured.push({ name, input, ...probed });
      resolve(probed);
    };
    let out = '';
    let error = '';
    let lines = 0;
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
      const whole = out.split('\n').slice(0, -1);
      for (const line of whole.slice(lines)) if (line !== '' && !line.startsWith('{"value":')) onLine(line);
      lines = whole.length;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (error += chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(sampling);
      process.off('exit', kill);
      const answer = out.trimEnd().split('\n').at(-1) ?? '';
      if (code === 0 && answer.startsWith('{'))
        keep({ ...(JSON.parse(answer) as { value: T; peak: number }), own });
      else reject(new Error(`the measurement ${name} failed (${String(code)}):\n${error}${out}`));
    });
  });
