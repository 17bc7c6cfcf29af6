import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { keysKey } from '../../api/keys.ts';
import { sessionKey } from '../../api/session.ts';
import { Form } from '../../parts/form.tsx';
import { Modal } from '../../parts/modal.tsx';

export function RevokeKey({
  revoked,
  isOwn,
  onClose,
}: {
  revoked: { id: string; display: string };
  isOwn: boolean;
  onClose: () => void;
}) {
  const api = useApi();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => api.revokeKey({ key_id: revoked.id }),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: isOwn ? sessionKey : keysKey });
    },
  });
  return (
    <Modal title="Revoke the key" onClose={onClose}>
      <Form
        submit="Revoke"
        kind="danger"
        error={revoke.error}
        isPending={revoke.isPending}
        onSubmit={() => revoke.mutate()}
      >
        <p>
          The key <code>{revoked.display}</code> stops working within 5 seconds, and its open streams and
          sessions end. Keys that were created with it stay valid. You cannot undo this.
        </p>
        {isOwn && (
          <p>
            <strong>You are signed in with this key, so your session also ends.</strong>
          </p>
        )}
      </Form>
    </Modal>
  );
}
