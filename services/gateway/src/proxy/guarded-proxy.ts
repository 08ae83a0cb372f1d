import type { IncomingMessage } from 'node:http';
import type { HttpAnswer } from '../front/answer.ts';
import { answerAndClose } from '../front/answer-and-close.ts';
import type { CountAtDoor } from '../front/door-counts.ts';
import { errorAnswer } from '../front/error-answer.ts';
import { headerText } from '../front/header-text.ts';
import type { Bypass } from '../front/open-front.ts';
import { refuseForeign, type ForeignRequest } from '../guard.ts';
import type { Proxy } from './open-proxy.ts';

/** A proxy that no page of somebody else can use. @param hosts the values of `Host` that are the server's own */
export const guardedProxy = (
  proxy: Pick<Proxy, 'handle' | 'upgrade'>,
  hosts: (name: string) => boolean,
  count: CountAtDoor,
): Bypass => {
  const refusalOf = (request: ForeignRequest): HttpAnswer | undefined => {
    try {
      refuseForeign(request, hosts);
      return undefined;
    } catch (error) {
      count('stemma_http_refused_total', { code: 'E_NOT_ALLOWED' });
      return errorAnswer(error);
    }
  };
  return {
    handle: (incoming, outgoing) => {
      const refused = refusalOf(foreignOf(incoming));
      if (refused === undefined) proxy.handle(incoming, outgoing);
      else answerAndClose(outgoing, refused);
    },
    upgrade: (incoming, client, head) => {
      refuseForeign(foreignOf(incoming), hosts);
      proxy.upgrade(incoming, client, head);
    },
  };
};

/** What a request that nobody has read says of where it comes from. */
const foreignOf = ({ url = '', headers }: IncomingMessage): ForeignRequest => ({
  host: headers.host ?? '',
  path: url,
  header: (name) => headerText(headers[name]),
});
