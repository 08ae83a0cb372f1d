import type { ExchangeRequest } from '@stemma/api';

/** The exchange without the bytes, for a gateway that takes no request of this size. */
export const withoutBodies = (json: string): string => {
  const { request, end, ...rest } = JSON.parse(json) as ExchangeRequest;
  const response = end?.response;
  const lean: ExchangeRequest = {
    ...rest,
    request: request.form === 'wire' ? { ...request, body: null } : { ...request, messages: [], tools: null },
    end: end && {
      ...end,
      response: response?.form === 'wire' ? { ...response, body: null } : (response ?? null),
    },
  };
  return JSON.stringify(lean);
};
