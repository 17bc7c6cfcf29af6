import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';

/** Everything that shows webhooks or their deliveries is read again after a change. */
function useReadAgain() {
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
    onSuccess: useReadAgain(),
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
    onSuccess: useReadAgain(),
  });
}

export function useRotate(webhook_id: string) {
  const api = useApi();
  return useMutation({ mutationFn: () => api.rotateWebhookSecret({ webhook_id }) });
}

export function useDelete(webhook_id: string, onDeleted: () => void) {
  const api = useApi();
  const readAgain = useReadAgain();
  return useMutation({
    mutationFn: () => api.deleteWebhook({ webhook_id }),
    onSuccess: () => {
      // Before its screen reads that it is gone.
      onDeleted();
      return readAgain();
    },
  });
}
