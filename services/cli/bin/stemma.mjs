#!/usr/bin/env node
// The command of the package `stemma`. It must load on any Node.js, to say which one is needed.
import module from 'node:module';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 15)) {
  console.error(`stemma: needs Node.js 22.15 or newer, and this is ${process.versions.node}.`);
  process.exit(1);
}
// Compiled programs are kept between runs: that is half of what a start takes.
module.enableCompileCache();
await import('../dist/stemma.js');
