import {
  type AnswerOf,
  breakpointOf,
  commandAnswer,
  type Endpoints,
  heldCallAnswer,
  type InputOf,
} from '@stemma/api';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';

type SteeringEndpoint = 'steer' | 'addBreakpoint' | 'removeBreakpoint' | 'release';
type SteeringHandlers = {
  readonly [N in SteeringEndpoint]: (input: InputOf<Endpoints[N]>) => Promise<AnswerOf<Endpoints[N]>>;
};

type Who = { readonly actor: string; readonly notes?: string | undefined };

const actOf = ({ actor, notes }: Who): { actor: string; notes?: string } => ({
  actor,
  ...defined({ notes }),
});

/** Steers calls. */
export const steeringHandlers = (home: Home): SteeringHandlers => ({
  steer: async ({ history, body }) =>
    commandAnswer(await home.steering.set(await home.find(history), body.on, actOf(body))),
  addBreakpoint: async ({ history, body }) => ({
    name: await home.steering.addBreakpoint(
      await home.find(history),
      breakpointOf(body),
      actOf(body),
      body.name,
    ),
  }),
  removeBreakpoint: async ({ history, name, body }) =>
    commandAnswer(await home.steering.removeBreakpoint(await home.find(history), name, actOf(body))),
  release: async ({ history, attempt, body }) => {
    const how = {
      abort: body.abort === true,
      ...defined({ message: body.message }),
    };
    const released = await home.steering.release(
      (await home.find(history)).history,
      attempt,
      how,
      actOf(body),
    );
    return heldCallAnswer(released);
  },
});
