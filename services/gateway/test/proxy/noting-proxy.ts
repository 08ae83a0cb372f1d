import { upstreamsOf } from '../../src/index.ts';
import type { EntryRef } from '../../src/proxy/entry.ts';
import { openProxy, type Proxy } from '../../src/proxy/open-proxy.ts';

/**
 * A proxy that records nothing, and what it would: the entries of calls, each as soon as it is noted.
 *
 * @param env names its upstreams
 */
export const openNotingProxy = async (
  directory: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly proxy: Proxy; readonly noted: readonly EntryRef[] }> => {
  const noted: EntryRef[] = [];
  const proxy = await openProxy({
    directory,
    upstreams: upstreamsOf(env),
    sink: {
      record: (ref, answer, how) => {
        noted.push(ref, ...(how?.end === undefined ? [] : [how.end]));
        answer({ branch: { history: 'h', branchId: 0 } });
      },
      mayBeSteered: () => false,
      steer: () => Promise.resolve({ kind: 'untouched' }),
    },
    redacts: true,
    warn: () => undefined,
    count: () => undefined,
  });
  return { proxy, noted };
};
