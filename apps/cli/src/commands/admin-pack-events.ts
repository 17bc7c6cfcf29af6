import { flag } from '../options.ts';
import { adminCommand } from './admin-command.ts';

export const packEvents = adminCommand({
  name: 'pack-events',
  summary: 'let events share messages of the event log, once all nodes can read them',
  details:
    'Run it once after the upgrade from 0.1.0, when no node of that version runs any more, with the login that owns the tables; then restart the nodes one at a time. A new installation does not need it. Nodes of 0.1.0 keep such messages as dead letters: before you go back to it, run it with --off, restart the nodes, and wait until earshot_event_log_waiting is 0.',
  options: { off: flag('one event per message, as in 0.1.0') },
  examples: ['earshot admin pack-events', 'earshot admin pack-events --off'],
  async work(database, { options: { off } }) {
    await database.packEvents(!off);
    const how = off ? 'Each event gets a message of its own' : 'Events share messages';
    return { json: { packed: !off }, text: `${how} from the next start of each node on.` };
  },
});
