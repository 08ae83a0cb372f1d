import { fareOf } from './fare.mjs';

const CASES = [
  ['two rides', fareOf(30, 2), 6],
  ['a child under 6', fareOf(5, 4), 0],
  ['a child of 6', fareOf(6, 1), 3],
  ['five rides in a day', fareOf(30, 5), 9],
];
const wrong = CASES.filter(([, is, expected]) => is !== expected);
for (const [what, is, expected] of wrong) console.log(`wrong: ${what} costs ${is}, not ${expected}`);
if (wrong.length === 0) console.log('4 fares are right');
process.exitCode = wrong.length === 0 ? 0 : 1;
