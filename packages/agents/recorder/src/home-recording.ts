import { ExchangeRequest, fromWireJson } from '@stemma/api';
import { isStemmaError } from '@stemma/errors';
import { exchangeOfRequest, recordExchange } from '@stemma/exchanges';
import { openHome, type Home } from '@stemma/home';
import { MUST_GO, type SendOutcome } from './calls/outcome.ts';

/** Records exchanges in a home of this process. */
export type HomeRecording = {
  send(id: string, json: string): Promise<SendOutcome>;
  close(): Promise<void>;
};

/** Milliseconds without a call after which the home is closed: others may need it, and the process may want to end. */
const IDLE = 250;

/** Opens the home when there is something to record, and closes it soon after. */
export const openHomeRecording = (directory: string): HomeRecording => {
  let opened: Promise<Home> | undefined;
  let idle: NodeJS.Timeout | undefined;
  const close = async (): Promise<void> => {
    clearTimeout(idle);
    const home = opened;
    opened = undefined;
    await home?.then((each) => each.close()).catch(() => undefined);
  };
  const forgetFailed = (): void => {
    opened?.catch(() => (opened = undefined));
  };
  return {
    send: async (_, json) => {
      clearTimeout(idle);
      opened ??= openHome({ directory, create: true });
      try {
        const exchange = exchangeOfRequest(ExchangeRequest.parse(fromWireJson(json)));
        const home = await opened;
        const { warning } = await recordExchange(home, exchange);
        return { kind: 'recorded', warning: warning && home.privacy.redactText(warning) };
      } catch (error) {
        if (!isStemmaError(error)) throw error;
        const { code, message, row } = error;
        const reason = `${message} (${code})`;
        if (row.retriable) return { kind: 'away', reason };
        return { kind: 'refused', reason, erased: MUST_GO.has(code) };
      } finally {
        forgetFailed();
        idle = setTimeout(() => void close(), IDLE);
      }
    },
    close,
  };
};
