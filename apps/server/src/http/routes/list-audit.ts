import type { createListAudit } from '../../changes/list-audit.ts';
import type { Route } from '../route.ts';

export function listAuditRoute(listAudit: ReturnType<typeof createListAudit>): Route<'ListAudit'> {
  return { id: 'ListAudit', handle: listAudit };
}
