import { toDocument } from '../../http/site/document.ts'
import { escapeHtml } from '../../http/site/markdown.ts'
import type { Reply } from '../../http/route.ts'
import type { Asked, Faulty } from './asked.ts'
import { isLoopback } from './clients.ts'

interface ConsentParts<Status extends number> {
  status: Status
  /** False where clients may only read. */
  mayWrite: boolean
  username: string
  /** What is wrong with what was entered; empty at first. */
  fault: string
}

/** Asks the user for the password, and whether the client may act in the user's name. One form does both, without a session. */
export function showConsent<Status extends number>(
  { client, redirectUri }: Asked,
  { status, mayWrite, username, fault }: ConsentParts<Status>,
): Reply<Status> {
  const name = escapeHtml(client.name)
  return toConsentPage(
    `Connect ${client.name}`,
    `<h1>Connect ${name}?</h1>
<p><strong>${name}</strong> wants to use this workspace in your name. If you allow it, it can</p>
<ul>
<li>find and read all that you can read</li>
${mayWrite ? '<li>write, react and vote as you: others see your name</li>' : ''}
<li>do so until you disconnect it, or an administrator does</li>
</ul>
<p>The answer goes to <strong>${escapeHtml(nameOf(redirectUri))}</strong>. The name is what the program calls itself: allow only what
you have just started yourself.</p>
<form method="post">
${fault === '' ? '' : `<p class="fault" role="alert">${escapeHtml(fault)}</p>`}
<label>Username<input name="username" value="${escapeHtml(username)}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="256" required></label>
<label>Password<input type="password" name="password" autocomplete="current-password" maxlength="256" required></label>
<p class="choices"><button name="decision" value="allow">Sign in and allow</button><button name="decision" value="deny" formnovalidate class="quiet">Cancel</button></p>
</form>`,
    { status, formTarget: toSource(redirectUri) },
  )
}

/** Says why a question cannot be put to the user. */
export function showFault({ sentence, back }: Faulty): Reply<400> {
  const way =
    back === undefined
      ? ''
      : `<p><a href="${escapeHtml(back.url)}" rel="noreferrer">Back to ${escapeHtml(back.client.name)}</a> at ${escapeHtml(nameOf(back.url))}</p>`
  return toConsentPage('This does not work', `<h1>This does not work</h1><p>${escapeHtml(sentence)}</p>${way}`, {
    status: 400,
  })
}

function toConsentPage<Status extends number>(
  title: string,
  html: string,
  { status, formTarget }: { status: Status; formTarget?: string },
): Reply<Status> {
  const brand = '<div class="brand"><img src="/favicon.svg" alt="" width="24" height="24">Parley</div>'
  const shown = toDocument(`${title} · Parley`, `<main class="consent">${brand}\n${html}</main>`, { formTarget })
  // The browser says with the form where the page is from, and nothing to others.
  return {
    ...shown,
    status,
    headers: { ...shown.headers, 'Cache-Control': 'no-store', 'Referrer-Policy': 'same-origin' },
  }
}

function nameOf(redirectUri: string): string {
  const { host } = new URL(redirectUri)
  return isLoopback(redirectUri) ? `a program on your computer (${host})` : host
}

/** For the policy of the page, which has no form for addresses of IPv6. */
function toSource(redirectUri: string): string {
  const { origin, hostname, protocol } = new URL(redirectUri)
  return hostname.startsWith('[') ? protocol : origin
}
