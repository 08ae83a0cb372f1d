/** What an error says, to stand behind what failed for it; of what is no error, its text. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
