import type { Home } from '@stemma/home';

/** The contract's clients read texts; what is written is the bytes. */
export const bodyOf = async (
  home: Home,
  { history, attempt }: { readonly history: string; readonly attempt: string },
  which: 'request' | 'came' | 'response',
): Promise<string> => {
  const { history: id } = await home.find(history);
  return (await home.calls.bodyOfAny(id, attempt, which)) as unknown as string;
};
