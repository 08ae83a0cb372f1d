import { beganAt, bootId, isAlive } from '@stemma/machine';
import { randomBytes } from 'node:crypto';

/*
 * Each process has a folder of its own in a spool, and sends what is in it. The name says which process that is: its id, when it
 * began (on Linux, in ticks since the boot), the boot, and eight digits by chance. What comes after a dot was taken over from
 * another process.
 */
const OWNER = /^(\d+)-(\d+)-([0-9a-f-]+)-([0-9a-f]{8})(?:\.\d+)?$/;

/** The id of the boot, where the system has one: elsewhere a process that has the number of an ended one is taken for it. */
const boot = (): string => /^[0-9a-f-]+$/.exec(bootId())?.[0] ?? '0';

/** A name for a folder of this process. */
export const ownName = (): string =>
  `${process.pid}-${beganAt(process.pid) ?? '0'}-${boot()}-${randomBytes(4).toString('hex')}`;

/** A name for a folder that belongs to nobody. */
export const nobodysName = (): string => `0-0-0-${randomBytes(4).toString('hex')}`;

/** True for the folder of a process that has ended. */
export const isAbandoned = (name: string): boolean => {
  const [, pid, began, booted] = OWNER.exec(name) ?? [];
  if (pid === undefined) return false;
  if (pid === '0' || booted !== boot()) return true;
  return !isAlive(Number(pid), began === '0' ? undefined : began);
};
