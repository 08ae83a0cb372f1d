export { openPathHider, UNFORESEEN, type PathHider } from './hide-paths.ts';
export { filterOf } from './intervention-filter.ts';
export { streamedAnswer } from './logged-events.ts';
export { openAnswers, type Answers } from './open-answers.ts';
export { searchWithFilters } from './overview/filtered-search.ts';
