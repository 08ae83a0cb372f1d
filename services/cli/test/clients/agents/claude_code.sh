#!/bin/bash
# Four turns of one session of Claude Code, each in a process of its own.
set -e
export DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
claude -p 'Is pier one dry?'
for pier in two three four; do
  claude --continue -p "And pier $pier?"
done
