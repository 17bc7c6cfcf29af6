import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';

/** Returns a function that reloads webhooks and deliveries after a change. */
function useReload() {
  const queries = useQueryClient();
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['listWebhooks'] }),
      queries.invalidateQueries({ queryKey: ['listDeliveries'] }),
    ]);
}

export function useSetState(webhook_id: string) {
  const api = useApi();
  return useMutation({
    mutationFn: (state: 'active' | 'paused') => api.updateWebhook({ webhook_id, state }),
    onSuccess: useReload(),
  });
}

export function useTest(webhook_id: string) {
  const api = useApi();
  return useMutation({ mutationFn: () => api.testWebhook({ webhook_id }) });
}

export function useReplay(webhook_id: string) {
  const api = useApi();
  return useMutation({
    mutationFn: (start: { from: string } | { from_match_id: string }) =>
      api.replayWebhook({ webhook_id, ...start }),
    onSuccess: useReload(),
  });
}

export function useRotate(webhook_id: string) {
  const api = useApi();
  return useMutation({ mutationFn: () => api.rotateWebhookSecret({ webhook_id }) });
}

export function useDelete(webhook_id: string, onDeleted: () => void) {
  const api = useApi();
  const reload = useReload();
  return useMutation({
    mutationFn: () => api.deleteWebhook({ webhook_id }),
    onSuccess: () => {
      // Leaves the screen of the webhook before it finds that the webhook does not exist.
      onDeleted();
      return reload();
    },
  });
}
