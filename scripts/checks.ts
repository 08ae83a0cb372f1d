/** What is checked beside the tests, the longest first: the names of turbo's tasks (turbo.json). */
export const checks = [
  '//#lint',
  '//#types',
  '//#format:check',
  '//#imports',
  '//#unused',
  '//#names',
] as const;
