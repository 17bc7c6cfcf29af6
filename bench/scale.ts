import {
  afterBurstTable,
  checksTable,
  costsTable,
  growthTables,
  monthTable,
  needsTable,
  stagesTable,
  turnSentence,
} from './scale/tables.ts';

/** The tables of docs/scale.md: measured growth beside the model, what 1×, 10× and 100× need, and the model against real runs. */
const tables = {
  ...growthTables(),
  costs: costsTable(),
  needs: needsTable(),
  stages: stagesTable(),
  'the turn of a writer': turnSentence(),
  'what to buy': monthTable(),
  'model against real runs': checksTable(),
  'right after a burst': afterBurstTable(),
};
for (const [title, text] of Object.entries(tables)) process.stdout.write(`## ${title}\n\n${text}\n\n`);
