/** Says why a value of the program is no JSON, in one line; what engines say of it names their own parts. */
export const whyNoJson = (error: unknown): string => {
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return /circular|cyclic/i.test(reason)
    ? 'its messages, parameters, tools or answer hold an object that contains itself, which no JSON can'
    : `its messages, parameters, tools or answer hold what no JSON can: ${reason}`;
};
