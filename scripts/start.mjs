import { join } from 'node:path';
import { installQuietly, pnpmQuietly, root, runFile } from './pnpm.mjs';

// No shell is needed for it: there is none like that on Windows.
const workspaceNode = join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
const program = join(root, 'services/cli/dist/stemma.js');

installQuietly();
const built = pnpmQuietly('Building', '--silent', 'run', 'build');
process.exitCode =
  built === 0 ? runFile(workspaceNode, [program, 'up', '--sample', ...process.argv.slice(2)]) : built;
