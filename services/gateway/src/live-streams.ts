import type { PathHider } from '@stemma/answers';
import type { Endpoints, InputOf, StreamName } from '@stemma/api';
import type { Home } from '@stemma/home';
import { anySignal } from '@stemma/machine';
import type { Metrics } from '@stemma/metrics';
import { signalOf, type Client, type GivenInput } from './answers.ts';
import { ctreesMessages } from './ctrees.ts';
import type { Pieces, StreamedAnswer } from './front/answer.ts';
import { inputOf } from './request.ts';
import { SERVED } from './step-requests.ts';
import { openStreamSlots } from './stream-slots.ts';
import {
  eventSource,
  openStream,
  watchSource,
  type StreamListener,
  type StreamSource,
  type StreamTimes,
} from './stream.ts';

type LiveStreamsOptions = {
  readonly home: Home;
  readonly metrics: Metrics;
  readonly stream?: Partial<StreamTimes>;
  readonly streams?: number;
  readonly closing?: AbortSignal;
};

const TIMES: StreamTimes = { heartbeat: 15_000, stall: 30_000, refusal: 250, turn: 10_000 };

/** What answers each live stream. */
type StreamAnswerers = Readonly<
  Record<StreamName, (given: GivenInput, client: Client) => Promise<StreamedAnswer>>
>;

/** The live streams: a limited number at a time, each until its client disconnects, others need its slot, or the server closes. */
export const openLiveStreams = (
  { home, metrics, streams = 64, stream, closing }: LiveStreamsOptions,
  hider: PathHider,
): StreamAnswerers => {
  const times = { ...TIMES, ...stream };
  const dropped = (reason: 'slow' | 'turn'): void => metrics.add('stemma_streams_dropped_total', { reason });
  const takeSlot = openStreamSlots(streams, times.turn, () => dropped('turn'));

  const answerWith =
    <Name extends StreamName, T>(
      name: Name,
      sourceOf: (input: InputOf<Endpoints[Name]>, after: string | undefined) => Promise<StreamSource<T>>,
    ) =>
    async (given: GivenInput, client: Client): Promise<StreamedAnswer> => {
      const slot = takeSlot();
      const signals = [signalOf(client), slot.signal, ...(closing === undefined ? [] : [closing])];
      const listener: StreamListener = { stalled: () => dropped('slow'), ended: slot.release };
      try {
        const input = inputOf(given, SERVED[name]) as InputOf<Endpoints[Name]>;
        const after = given.headers['last-event-id'] ?? (input as { readonly after?: string }).after;
        const source = await sourceOf(input, after);
        return answerOf(await openStream(source, anySignal(signals), times, hider.error, listener));
      } catch (error) {
        slot.release();
        throw error;
      }
    };

  return {
    stream: answerWith('stream', async ({ history: named }, after) => {
      const history = named === undefined ? undefined : (await home.find(named)).history;
      return eventSource(home, { after, history });
    }),
    ctreesStream: answerWith('ctreesStream', async ({ session }, after) => {
      const { history } = await home.find(session);
      return eventSource(home, { after, history }, ctreesMessages(home, session));
    }),
    watch: answerWith('watch', async (input, after) => watchSource(home, { ...input, after })),
  };
};

const answerOf = (pieces: Pieces): StreamedAnswer => ({
  status: 200,
  headers: {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  },
  pieces,
});
