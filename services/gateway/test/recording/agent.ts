import { recordingFetch } from '@stemma/recorder';

/*
 * An agent whose calls are recorded: it makes so many calls one after the other, each a conversation of its own, and says the
 * text of each answer. Then it ends; or waits until it is killed; or waits in the middle of a call that does not end.
 */
const [, , provider, count, then] = process.argv;
const { AGENT_EXIT_TIMEOUT: exitTimeout = '2000' } = process.env;
const fetching = recordingFetch({ exitTimeout: Number(exitTimeout) });
const ask = (text: string): Promise<Response> =>
  fetching(`${provider}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }),
  });
for (let i = 0; i < Number(count); i++)
  console.log(await (await ask(`Question ${i} of ${process.pid}`)).text());
if (then === 'middle') {
  const response = await ask(`Question without end of ${process.pid}`);
  await response.body?.getReader().read();
}
if (then !== 'end') {
  console.log(then);
  setInterval(() => undefined, 1_000);
}
