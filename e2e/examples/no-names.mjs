// Loaded before a program: whoever asks for the address of a name is ended, so nothing outside of this machine is reached.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

dns.lookup = (name) => {
  process.stderr.write(`asked for the address of ${name}\n`);
  process.exit(86);
};
syncBuiltinESMExports();
