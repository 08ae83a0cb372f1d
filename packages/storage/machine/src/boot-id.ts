import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/**
 * An id of the machine's current boot. When it has changed, the machine was restarted, and files that nobody synced
 * may hold anything.
 */
export const bootId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return bootTime(Date.now(), uptime());
  }
};

/**
 * Where the system gives no id: the time of the boot, to ten seconds. A clock that is set then looks like a restart,
 * which costs a rebuild. Coarser steps would take two boots within one step for the same one, which costs data.
 *
 * @param now in milliseconds. @param running for how many seconds the machine has run.
 */
export const bootTime = (now: number, running: number): string =>
  `began ${Math.round((now / 1000 - running) / 10)}`;
