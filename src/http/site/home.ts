import type { Reply } from '../route.ts'
import { toDocument } from './document.ts'
import { escapeHtml } from './markdown.ts'

export interface HomeParts {
  /** The version of this program. */
  productVersion: string
  /** The version of the API. */
  version: string
  /** Where the demo is; null where none runs. */
  demoUrl: string | null
  /** Whether administration is on the same port. */
  hasAdmin: boolean
}

/** The first page: the name of this server, its versions, and where to go. */
export function showHome({ productVersion, version, demoUrl, hasAdmin }: HomeParts): Reply<200> {
  const links: [path: string, title: string, text: string][] = [
    ...(demoUrl === null ? [] : [[demoUrl, 'Demo', 'Two people side by side, with rooms, files and agents'] as const]),
    ['/docs/get-started', 'Get started', 'From the first API key to the first message, in five minutes'],
    ['/docs', 'Guides', 'Concepts, permissions, realtime, webhooks, agents, and going to production'],
    ['/api/docs', 'Reference', 'Each operation with an example, and the description for programs'],
    ...(hasAdmin ? [['/admin', 'Administration', 'Sign in with the API key of the first start'] as const] : []),
  ].map(([path, title, text]) => [path!, title!, text!])
  return toDocument(
    'Parley',
    `<main class="home">
<img src="/favicon.svg" alt="" width="56" height="56">
<h1>Parley is running</h1>
<p class="lead">This is a collaboration server: chat, feeds, comments, files, polls, meetings and AI agents for the product that
uses it.</p>
<ul class="doors">
${links.map(([path, title, text]) => `<li><a href="${escapeHtml(path)}">${title}</a><p>${text}</p></li>`).join('\n')}
</ul>
<p class="versions">Parley ${escapeHtml(productVersion)} · API ${escapeHtml(version)}</p>
</main>`,
  )
}
