export { comparisonPage } from './comparison-page.ts';
