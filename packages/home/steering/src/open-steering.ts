import type { CallApi } from '@stemma/events';
import type { CallStarter, RequestRecorder } from '@stemma/call-recording';
import type { Projection } from '@stemma/projector';
import { findHistory, listSteeredBranches, newestCallRow } from '@stemma/read-models';
import { editSteps } from './edit-steps.ts';
import { openHeldCalls } from './held-calls.ts';
import { nowAndThen } from './now-and-then.ts';
import { refuseHalfPairs } from './refuse-half-pairs.ts';
import { openSettings } from './settings.ts';
import { openSteeredCalls } from './steer-calls.ts';
import type { SteeredHome, Steering } from './types.ts';

export type SteeringParts = {
  readonly home: SteeredHome;
  readonly projection: Projection;
  readonly starter: CallStarter;
  readonly requests: RequestRecorder;
  readonly redactedRequest: (body: Uint8Array, api: CallApi) => Promise<Uint8Array | null>;
  readonly say: (sentence: string) => void;
};

/** Steers the calls of a home. */
export const openSteering = (parts: SteeringParts): Steering => {
  const { home, projection } = parts;
  const held = openHeldCalls(home, projection);
  const isCloser = nowAndThen(projection);
  const { of: _of, ...settings } = openSettings(home, projection);
  return {
    ...settings,
    call: openSteeredCalls({ ...parts, held, settings: { ...settings, of: _of } }),
    held: held.held,
    release: held.release,
    lose: held.lose,
    editSteps: (branch, edits, at) => editSteps(home, branch, edits, at),
    check: (command, forked) => refuseHalfPairs(home, projection, command, forked),
    close: held.close,
    scopes: async () => {
      await home.catchUp();
      const closer = isCloser();
      return projection.read((rows) => {
        const branches = listSteeredBranches(rows, closer);
        const scopes = branches.flatMap(
          ({ history, branchId }) => newestCallRow(rows, history, branchId)?.scope ?? [],
        );
        return {
          histories: [
            ...new Set(
              branches.flatMap(({ history }) => [history, findHistory(rows, history)?.name ?? history]),
            ),
          ],
          scopes: [...new Set(scopes)],
        };
      });
    },
  };
};
