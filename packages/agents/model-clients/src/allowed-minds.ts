import { fail } from '@stemma/errors';

/**
 * Refuses every mind that `STEMMA_MINDS` does not name: specs between commas or spaces, of which one may end in `*`. Without
 * the variable only `offline` is allowed. A `*` never covers an address: a client that chose one would be sent the key.
 *
 * @throws E_MIND_NOT_ALLOWED
 */
export const openAllowedMinds = ({
  STEMMA_MINDS: named = '',
}: Readonly<Record<string, string | undefined>>): ((spec: string) => void) => {
  const allowed = named.split(/[\s,]+/).filter((each) => each !== '');
  const list = allowed.length === 0 ? ['offline'] : allowed;
  return (spec) => {
    const hasAddress = /@https?:/i.test(spec);
    const isAllowed = list.some(
      (each) => each === spec || (!hasAddress && each.endsWith('*') && spec.startsWith(each.slice(0, -1))),
    );
    if (!isAllowed)
      throw fail('E_MIND_NOT_ALLOWED', `${JSON.stringify(spec.slice(0, 200))} may not be asked here`, {
        mind: spec,
      });
  };
};
