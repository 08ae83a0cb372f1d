import { compareCodePoints } from '@stemma/canonical';
import { branchRefOf } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { openCallRecorder, type CallRecorder } from '@stemma/recorder';
import { startModels, type ModelScript, type ScriptedModels } from '@stemma/test-kit';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveGateway, type Gateway } from '../../src/index.ts';

/** A folder with a home and a spool, a gateway for it, a scripted provider, and recorders. */
export const openRecording = () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-recording-'));
  const home = join(directory, 'home');
  const spool = join(directory, 'spool');
  const said: string[] = [];
  let served: { readonly gateway: Gateway; readonly home: Home } | undefined;
  let models: ScriptedModels | undefined;
  const recorders: CallRecorder[] = [];
  const stop = async (): Promise<void> => {
    await served?.gateway.close();
    await served?.home.close();
    served = undefined;
  };
  return {
    directory,
    home,
    spool,
    /** What recorders warned of. */
    said,
    serve: async (port = 0): Promise<string> => {
      const opened = await openHome({ directory: home, create: true });
      served = { home: opened, gateway: await serveGateway({ home: opened, port }) };
      return served.gateway.url;
    },
    stop,
    provide: async (script: ModelScript): Promise<ScriptedModels> => (models = await startModels(script)),
    recorder: (options: Parameters<typeof openCallRecorder>[0]): CallRecorder => {
      const opened = openCallRecorder({
        directory: spool,
        warn: (sentence) => void said.push(sentence),
        times: { first: 10, longest: 50 },
        ...options,
      });
      recorders.push(opened);
      return opened;
    },
    /** Every attempt in the home, with its bodies, in the order of their frames; the gateway is stopped first. */
    recorded: async () => {
      await stop();
      const opened = await openHome({ directory: home, create: true });
      try {
        const found = [];
        for (const { history, name, branches } of (await opened.read.histories()).toReversed())
          for (const { branchId } of branches) {
            const { attempts } = await opened.calls.list(branchRefOf(history, branchId));
            for (const { attemptId } of attempts) {
              const attempt = await opened.calls.find(history, attemptId);
              const body = async (which: 'request' | 'response'): Promise<string | null> =>
                attempt[which] === null
                  ? null
                  : Buffer.from(await opened.calls.body(history, attemptId, which)).toString();
              found.push({
                ...attempt,
                name,
                requestText: await body('request'),
                responseText: await body('response'),
              });
            }
          }
        return found;
      } finally {
        await opened.close();
      }
    },
    /** The files of the spool, by their names. */
    files: (): string[] => {
      try {
        return readdirSync(spool, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ name }) => name)
          .sort(compareCodePoints);
      } catch {
        return [];
      }
    },
    close: async (): Promise<void> => {
      await Promise.all(recorders.map((one) => one.close({ timeout: 0 })));
      await stop();
      await models?.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
