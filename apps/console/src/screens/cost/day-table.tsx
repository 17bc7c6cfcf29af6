import { Table } from '../../parts/table.tsx';
import { dayName } from './day-name.ts';
import { FigureCells, FigureHeaders } from './figure-cells.tsx';
import type { DayUsage } from './usage.ts';

/** One row per day, newest first. */
export function DayTable({ days }: { days: readonly DayUsage[] }) {
  return (
    <Table label="Usage by day">
      <thead>
        <tr>
          <th scope="col">Day (UTC)</th>
          <FigureHeaders />
        </tr>
      </thead>
      <tbody>
        {days.toReversed().map((day) => (
          <tr key={day.day}>
            <th scope="row">
              <time dateTime={day.day} title={day.day}>
                {dayName(day.day)}
              </time>
            </th>
            <FigureCells figures={day} />
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
