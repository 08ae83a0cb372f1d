/** The version of Stemma, as each package.json says it too. */
export const VERSION = '0.1.0';
