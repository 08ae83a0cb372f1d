import { fail } from '@stemma/errors';
import type { ReadRun } from '@stemma/reruns';

/** The two parts of `@c4=VALUE`. @throws E_USAGE if it is not of this form, or if the run has no such call */
export const callAndValue = (
  given: string,
  { calls }: Pick<ReadRun, 'calls'>,
  form: string,
): readonly [call: string, value: string] => {
  const [, call = '', value = ''] = /^([^=]*@c\d+)=(.+)$/s.exec(given) ?? [];
  if (value === '') throw fail('E_USAGE', `it is ${form}, not ${JSON.stringify(given.slice(0, 200))}`);
  return [knownCall(call, { calls }), value];
};

/** @throws E_USAGE if the run has no such call */
export const knownCall = (call: string, { calls }: Pick<ReadRun, 'calls'>): string => {
  if (calls.has(call)) return call;
  const known = [...calls.keys()];
  const some = known.length <= 6 ? known.join(', ') : `${known.slice(0, 5).join(', ')} … ${known.at(-1)}`;
  throw fail(
    'E_USAGE',
    `the recorded run has no call ${JSON.stringify(call.slice(0, 200))}; its calls are ${some}`,
  );
};
