import type { EventLog } from '@stemma/log';
import { encodePublicKey } from '@stemma/merkle';
import { join, resolve } from 'node:path';
import { signLog, type LogCheckpoint } from './heads.ts';
import { noteFile, readNoted } from '@stemma/privacy';
import { openKeyFile, readKeyFile } from './key-file.ts';

/** A checkpoint of a log, with the key that checks its signatures. */
export type SignedLog = {
  readonly log: string;
  readonly publicKey: string;
  readonly partitions: LogCheckpoint['partitions'];
  /** Signed notes, one for each partition. */
  readonly checkpoint: string;
};

const KEY = 'checkpoint.key';

/** Where a home has the key that signs its checkpoints. */
export const checkpointKeyPath = (directory: string): string => join(directory, KEY);

/**
 * Signs the state of every partition with the key in a file, which is made on first use. Reads the whole log.
 *
 * @throws E_FILE_GONE if the home had another key in its own file; E_PARTITION_CLOSED, E_KEY_INVALID, E_IO
 */
export const signWithKeyFile = async (
  log: EventLog,
  directory: string,
  keyPath: string,
  count?: (offset: number) => void,
): Promise<SignedLog> => {
  const isOwn = resolve(keyPath) === resolve(checkpointKeyPath(directory));
  if (isOwn) await readNoted(directory, KEY, () => readKeyFile(keyPath));
  const key = await openKeyFile(keyPath, log.id);
  if (isOwn) noteFile(directory, KEY, encodePublicKey(key));
  const { text, partitions } = await signLog(log, key, count);
  return { log: log.id, publicKey: encodePublicKey(key), partitions, checkpoint: text };
};
