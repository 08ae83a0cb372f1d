/** The static checks, in the order in which they run: each is a script of package.json and a task of turbo.json. */
export const checks = ['types', 'lint', 'imports', 'format:check', 'unused'] as const;
