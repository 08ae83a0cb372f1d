import { visibleText } from '@stemma/errors';
import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { homedir } from 'node:os';
import { join, resolve as absolutePath } from 'node:path';
import { openDiskSpool } from '../spool/disk-spool.ts';
import type { CallPlatform } from './platform.ts';

/** The most of an answer that is read: a gateway's is short. */
const MAX_ANSWER = 1024 * 1024;

export const platform: CallPlatform = {
  env: (name) => process.env[name],
  absolute: (path) => absolutePath(path),
  spoolFolder: () => join(stateFolder(), 'recorder'),
  folderOf: (folder, target) => join(folder, createHash('sha256').update(target).digest('hex').slice(0, 16)),
  openSpool: openDiskSpool,
  post: (url, json, timeout) =>
    new Promise((resolve, reject) => {
      const body = Buffer.from(json, 'utf8');
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const sent = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, { method: 'POST', headers });
      const late = setTimeout(
        () => sent.destroy(new Error(`no answer within ${timeout} ms`)),
        timeout,
      ).unref();
      // It is the program's business when it ends.
      sent.on('socket', (socket) => socket.unref());
      sent.on('error', (error) => {
        clearTimeout(late);
        reject(error);
      });
      sent.on('response', (response) => {
        const pieces: Buffer[] = [];
        let size = 0;
        response.on('data', (piece: Buffer) => {
          size += piece.length;
          if (size > MAX_ANSWER) sent.destroy(new Error('the answer is too long for one of a gateway'));
          else pieces.push(piece);
        });
        response.on('error', reject);
        response.on('end', () => {
          clearTimeout(late);
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString('utf8') });
        });
      });
      sent.end(body);
    }),
  onIdle: (act) => {
    process.on('beforeExit', act);
    return () => void process.off('beforeExit', act);
  },
  onExit: (act) => {
    process.on('exit', act);
    return () => void process.off('exit', act);
  },
  soon: (act) => void setImmediate(act),
  later: (milliseconds, act) => {
    const timer = setTimeout(act, milliseconds).unref();
    return () => clearTimeout(timer);
  },
  say: (sentence) => void process.stderr.write(`stemma: ${visibleText(sentence)}\n`),
};

/** Where programs of a user keep what outlives them, on each system. */
const stateFolder = (): string => {
  const { XDG_STATE_HOME = '', LOCALAPPDATA = '' } = process.env;
  if (process.platform === 'win32' && LOCALAPPDATA !== '') return join(LOCALAPPDATA, 'Stemma');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Stemma');
  return join(XDG_STATE_HOME === '' ? join(homedir(), '.local', 'state') : XDG_STATE_HOME, 'stemma');
};
