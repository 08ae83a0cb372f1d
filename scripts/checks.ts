/** What is checked before the tests run, in this order: the names of turbo's tasks (turbo.json). */
export const checks = [
  '//#types',
  '//#lint',
  '//#imports',
  '//#format:check',
  '//#unused',
  '//#names',
  'build',
] as const;
