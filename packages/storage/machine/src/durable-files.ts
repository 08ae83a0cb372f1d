import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openRegularFile } from './read-file.ts';

/*
 * Files that outlive a power loss once their function has returned. A name is durable when its folder was synced, and a
 * new folder's name when the folder above was. What is made is for its owner alone.
 */

/** Returns when the names in a folder are durable. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Opens a folder, so that the names in it can be synced. @returns its descriptor, which the caller closes */
export const openFolder = (folder: string): number => openSync(folder, 'r');

/** As `syncFolder`, for callers that may not wait. */
export const syncFolderSync = (folder: string): void => {
  const handle = openFolder(folder);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

/** Makes a folder, and the ones above it, unless they are there. */
export const makeFolder = (folder: string): void => {
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let at = folder; made !== undefined && at.length >= made.length; at = dirname(at))
    syncFolderSync(dirname(at));
};

/** Writes a new file and syncs its bytes. Its name is not durable yet. */
export const writeSynced = async (path: string, bytes: Uint8Array | string): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
};

/**
 * Writes a file whole or not at all, in the place of one that is there. Several processes may do so at once: each through a file
 * of its own beside it, so that none takes away what another is about to rename.
 */
export const replaceFile = async (path: string, bytes: Uint8Array | string): Promise<void> => {
  const temporary = temporaryOf(path);
  makeFolder(dirname(path));
  try {
    await writeSynced(temporary, bytes);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
};

/** As `replaceFile`, for callers that may not wait, in a folder that is there. @param synced false: it may be lost with the power */
export const replaceFileSync = (
  path: string,
  bytes: Uint8Array | string,
  { synced }: { readonly synced: boolean },
): void => {
  const temporary = temporaryOf(path);
  try {
    writeNew(temporary, bytes, synced);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (synced) syncFolderSync(dirname(path));
};

/** Another one each time. */
const temporaryOf = (path: string): string => `${path}.${randomBytes(6).toString('hex')}.tmp`;

const writeNew = (path: string, bytes: Uint8Array | string, synced: boolean): void => {
  const file = openRegularFile(path, 'new');
  try {
    writeFileSync(file, bytes);
    if (synced) fsyncSync(file);
  } finally {
    closeSync(file);
  }
};

/** Writes a file whole unless there is one: then false. Of several processes at once one wins. */
export const writeOnce = (path: string, bytes: Uint8Array | string): boolean => {
  makeFolder(dirname(path));
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  writeNew(temporary, bytes, true);
  try {
    linkSync(temporary, path);
  } catch (error) {
    shredFile(temporary);
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  }
  rmSync(temporary);
  syncFolderSync(dirname(path));
  return true;
};

/** Replaces the bytes of a file in their place, then removes it; nothing if there is none. */
export const shredFile = (path: string): void => {
  let file: number;
  try {
    file = openRegularFile(path, 'write');
  } catch (error) {
    // Another process was first.
    if (isSystemError(error, 'ENOENT')) return;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    writeSync(file, randomBytes(size), 0, size, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  rmSync(path, { force: true });
};

const isSystemError = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
