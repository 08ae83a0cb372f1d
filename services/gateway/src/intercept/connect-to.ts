import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { getProxyForUrl } from 'proxy-from-env';
import { hostText } from '../front/host-text.ts';
import type { ServerName } from './read-hosts.ts';

/**
 * A connection to a host, through the proxy of the network where the environment names one (`HTTPS_PROXY`, `NO_PROXY`).
 *
 * @throws what the system says
 */
export const connectTo = async ({ protocol, hostname, port }: ServerName): Promise<Socket> => {
  const host = `${hostText(hostname)}:${port}`;
  const proxy = URL.parse(getProxyForUrl(`${protocol}//${host}`));
  if (proxy === null || proxy.protocol !== 'http:') {
    const socket = connect(port, hostname);
    await once(socket, 'connect');
    return socket;
  }
  const asked = request({
    hostname: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port === '' ? 80 : Number(proxy.port),
    method: 'CONNECT',
    path: host,
    headers: { host, ...credentialsOf(proxy) },
    agent: false,
  });
  asked.end();
  const [answer, socket, head] = (await once(asked, 'connect')) as [{ statusCode: number }, Socket, Buffer];
  if (answer.statusCode !== 200) {
    socket.destroy();
    throw Object.assign(new Error(`the proxy of the network answered ${answer.statusCode}`), {
      code: 'EPROXY',
    });
  }
  if (head.length > 0) socket.unshift(head);
  return socket;
};

const credentialsOf = ({ username, password }: URL): Record<string, string> => {
  if (username === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` };
};
