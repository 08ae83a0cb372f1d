import {
  ExchangeRequest,
  type Endpoints,
  type ExchangeAnswer,
  type ExchangesAnswer,
  type InputOf,
} from '@stemma/api';
import { errorToHttpJson, fail, isStemmaError, issueText, redactedError } from '@stemma/errors';
import { exchangeOfRequest, recordExchange } from '@stemma/exchanges';
import type { Home } from '@stemma/home';

type Handler<Name extends 'recordExchange' | 'recordExchanges', Answer> = (
  input: InputOf<Endpoints[Name]>,
) => Promise<Answer>;

/** Records the calls that a recorder has seen. */
export const exchangeHandlers = (
  home: Home,
): {
  readonly recordExchange: Handler<'recordExchange', ExchangeAnswer>;
  readonly recordExchanges: Handler<'recordExchanges', ExchangesAnswer>;
} => {
  const record = async (exchange: ExchangeRequest): Promise<ExchangeAnswer> => {
    const { branch, match, warning } = await recordExchange(home, exchangeOfRequest(exchange));
    const { history, branch: name, branchId } = branch;
    return {
      attempt_id: exchange.id,
      history,
      branch: name,
      branchId,
      match,
      warning: warning && home.privacy.redactText(warning),
    };
  };
  return {
    recordExchange: ({ body }) => record(body),
    recordExchanges: async ({ body: { exchanges } }) => {
      const results: ExchangesAnswer['results'] = [];
      for (const value of exchanges) {
        const id = typeof value['id'] === 'string' ? value['id'] : '';
        try {
          results.push({ id, status: 200, answer: await record(exchangeIn(value)), error: null });
        } catch (error) {
          if (!isStemmaError(error)) throw error;
          const { status } = error.row;
          results.push({
            id,
            status,
            answer: null,
            ...errorToHttpJson(redactedError(error, (text) => home.privacy.redactText(text))),
          });
          // The order of calls says whose conversation they are: what comes after one that is tried again waits, too.
          if (status >= 500 || status === 429) break;
        }
      }
      return { results };
    },
  };
};

/** @throws E_COMMAND_INVALID */
const exchangeIn = (value: unknown): ExchangeRequest => {
  const { success, data, error } = ExchangeRequest.safeParse(value);
  if (success) return data;
  const { at, sentence } = issueText(error.issues, 'the exchange');
  throw fail('E_COMMAND_INVALID', sentence, { at });
};
