import { beganAt, bootId, isAlive } from '@stemma/machine';

/** A file of the journal: entries of calls, in files that are numbered, or what is known of one call that is under way. */
export type JournalFile = {
  /** The process that writes it. */
  readonly owner: string;
  readonly isOwnerAlive: boolean;
} & ({ readonly number: number } | { readonly call: string });

const NAME = /^((\d+)-(\d+)-([\w-]+?))-(?:(\d+)\.calls|(call-[\w-]+)\.open)$/;

/** The name of a file says which process writes it. */
const ownName = (rest: string): string => `${process.pid}-${beganAt(process.pid) ?? '0'}-${bootId()}-${rest}`;

export const entriesFile = (number: number): string => ownName(`${number}.calls`);
export const unendedCallFile = (id: string): string => ownName(`${id}.open`);

/** @returns undefined if no process has written a file of this name */
export const journalFileOf = (name: string): JournalFile | undefined => {
  const [, owner = '', pid = '', began, boot, number, call = ''] = NAME.exec(name) ?? [];
  if (owner === '') return undefined;
  const isOwnerAlive = boot === bootId() && isAlive(Number(pid), began === '0' ? undefined : began);
  return number === undefined
    ? { owner, isOwnerAlive, call }
    : { owner, isOwnerAlive, number: Number(number) };
};
