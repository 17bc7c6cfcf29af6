import { createTransport } from 'nodemailer';

export interface Mail {
  readonly messageId: string;
  readonly digestId: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer extends AsyncDisposable {
  /** Throws if the server accepted it for no recipient. Returns the refused recipients. */
  send(mail: Mail): Promise<readonly string[]>;
}

const timeoutMs = 20_000;

/**
 * Sends mail through the operator's server, over TLS with a verified certificate. Without TLS only to this machine.
 */
export function openMailer({ url, from }: { readonly url: string; readonly from: string }): Mailer {
  const { hostname } = new URL(url);
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  const transport = createTransport({
    url,
    requireTLS: !isLocal,
    ignoreTLS: isLocal,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.slice(from.lastIndexOf('@') + 1);
  return {
    async send({ messageId, digestId, to, subject, text, html }) {
      const sent = await transport.sendMail({
        messageId: `<${messageId}@${domain}>`,
        from,
        to: [...to],
        subject,
        text,
        html,
        headers: {
          'Auto-Submitted': 'auto-generated',
          'List-Id': `<${digestId}.${domain}>`,
          Precedence: 'list',
        },
      });
      return sent.rejected;
    },
    async [Symbol.asyncDispose]() {
      transport.close();
    },
  };
}
