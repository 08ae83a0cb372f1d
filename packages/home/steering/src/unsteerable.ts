import { fail } from '@stemma/errors';

/** Says why a call goes out as it came. */
export const unsteerable = (reason: string): Error => fail('E_CALL_NOT_STEERED', reason);
