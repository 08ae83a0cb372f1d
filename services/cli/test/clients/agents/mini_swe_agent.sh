# mini-swe-agent, as one starts it in a shell.
set -eu
export MSWEA_CONFIGURED=true MSWEA_SILENT_STARTUP=1 MSWEA_COST_TRACKING=ignore_errors
cd "$(mktemp -d)"
mini --yolo --exit-immediately --model openai/gpt-4o --task 'Say "one two".' --output run.json
grep -c '"role"' run.json
cd - > /dev/null
