process.stderr.write('bench: nothing to measure yet\n');
