import type { PageView } from '../shown-views.tsx';
export const View: PageView = () => null;
