// Preloaded into a program: a DNS lookup ends it, so that it reaches nothing outside of this machine.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

dns.lookup = (name) => {
  process.stderr.write(`looked up ${name}\n`);
  process.exit(86);
};
syncBuiltinESMExports();
