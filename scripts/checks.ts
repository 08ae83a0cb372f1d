/** What is checked before the tests run, the longest first: the names of turbo's tasks (turbo.json). */
export const checks = [
  '//#lint',
  '//#types',
  '//#format:check',
  '//#imports',
  '//#unused',
  '//#names',
  'build',
] as const;
