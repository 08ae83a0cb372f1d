import { isSteeringKey, type Command } from '@stemma/history';
import { makeFolder, openRegularFile } from '@stemma/machine';
import { closeSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/*
 * A file of the home that grows whenever somebody has changed which calls are steered. A gateway looks at it before each call: that
 * costs less than to ask the log, and who was told that the change is recorded has written it.
 */
const pathOf = (directory: string): string => join(directory, 'calls', 'steering.version');

/** Changes whenever {@link renewSteeringVersion} was called for the directory; null: it cannot be read. */
export const steeringVersion = (directory: string): string | null => {
  try {
    const { ino, size, mtimeNs } = statSync(pathOf(directory), { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'none' : null;
  }
};

/** True if which calls are steered may be another after the command. */
export const mayChangeSteering = ({ steps }: Pick<Command, 'steps'>): boolean =>
  steps.some(
    (step) =>
      step.op === 'rollback' ||
      step.op === 'fork' ||
      (step.op === 'config' && Object.keys(step.set).some(isSteeringKey)),
  );

/** Gateways that have the directory ask the log before the next call. Where nothing can be written, they ask it now and then. */
export const renewSteeringVersion = (directory: string): void => {
  try {
    makeFolder(join(directory, 'calls'));
    const file = openRegularFile(pathOf(directory), 'append');
    try {
      writeSync(file, '.');
    } finally {
      closeSync(file);
    }
  } catch {
    // The log has what counts.
  }
};
