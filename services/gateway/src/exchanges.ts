import type { ExchangeAnswer, InputOf, Endpoints } from '@stemma/api';
import { exchangeOfRequest, recordExchange } from '@stemma/exchanges';
import type { Home } from '@stemma/home';

type Handler = (input: InputOf<Endpoints['recordExchange']>) => Promise<ExchangeAnswer>;

/** Records the calls that a recorder has seen. */
export const exchangeHandlers = (home: Home): { readonly recordExchange: Handler } => ({
  recordExchange: async ({ body }) => {
    const { branch, match } = await recordExchange(home, exchangeOfRequest(body));
    const { history, branch: name, branchId } = branch;
    return { attempt_id: body.id, history, branch: name, branchId, match };
  },
});
