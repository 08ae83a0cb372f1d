process.stderr.write('stemma: no command is implemented yet\n');
process.exitCode = 64;
