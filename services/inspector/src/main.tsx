import { createClient } from '@stemma/api';
import { render } from 'preact';
import { App } from './page/app.tsx';
import { followEvents } from './page/live.ts';
import { createQueries } from './asking/queries.ts';
import './style/tokens.css';
import './style/layout.css';
import './style/lists.css';
import './style/branches.css';
import './style/panes.css';
import './style/film.css';
import './style/rows.css';
import './style/search.css';

const queries = createQueries(createClient((url, options) => fetch(url, options), ''));
const live = followEvents(queries);
const root = document.getElementById('app');
if (root !== null) render(<App queries={queries} live={live} />, root);
