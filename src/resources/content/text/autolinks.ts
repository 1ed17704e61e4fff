import type { Env, MarkdownIt, StateCore, StateInline, Token } from 'markdown-it'

/** The most bare links of a text: beyond it, they are shown as text. A guess: 64 KB of prose have a few. */
const linkLimit = 1_000

/**
 * Links bare URLs, `www.` hosts and e-mail addresses by the rules of GitHub Flavored Markdown (6.9, "Autolinks
 * (extension)"). Where the text of the rules leaves something open, GitHub's own parser decides: a URL may follow any
 * character but a letter, its host needs no period, and quotation marks and semicolons at its end are not a part of it.
 * Square brackets at its end count as parentheses do.
 */
export function linkBare(markdown: MarkdownIt): void {
  markdown.inline.ruler.at('text', readText)
  markdown.inline.ruler.at('linkify', readUrl)
  markdown.core.ruler.at('linkify', linkAddresses)
}

/** Text up to a character that could begin anything else, or to a bare host. */
const calm = /(?:[^\n!#$%&*+\-:<=>@[\\\]^_`{}~w]+|w(?!ww\.))+/iy
const bareHost = /(?<![^\s*_~([])www\./iy

/** Reads text up to what may begin something else. Replaces the parser's rule for text. */
function readText(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state
  calm.lastIndex = pos
  bareHost.lastIndex = pos
  let end = pos
  if (calm.test(src)) end = Math.min(calm.lastIndex, state.posMax)
  // Within brackets that may become a link, nothing is linked.
  else if (!silent && state.linkLevel === 0 && bareHost.test(src))
    return pushLink(state, { start: pos, domain: pos + 'www.'.length, prefix: 'http://' })
  if (end === pos) return false
  if (!silent) state.pending += src.slice(pos, end)
  state.pos = end
  return true
}

/** Reads a URL at the colon behind its scheme, which is the end of the pending text. */
function readUrl(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state
  // The label of a link is searched for silently, and no link begins in it.
  if (silent || state.linkLevel > 0 || !src.startsWith('://', pos)) return false
  const [scheme] = /(?<![a-z])https?$/i.exec(src.slice(Math.max(0, pos - 6), pos)) ?? []
  if (scheme === undefined || !state.pending.endsWith(scheme)) return false
  const before = state.pending
  state.pending = before.slice(0, -scheme.length)
  const isLink = pushLink(state, { start: pos - scheme.length, domain: pos + 3, prefix: '' })
  if (!isLink) state.pending = before
  return isLink
}

interface Candidate {
  start: number
  /** Where its domain begins. */
  domain: number
  /** What its target has before the text. */
  prefix: string
}

function pushLink(state: StateInline, { start, domain, prefix }: Candidate): boolean {
  const host = isFull(state.env) ? -1 : findDomainEnd(state, domain)
  if (host === -1) return false
  const end = findEnd(state, domain, host)
  const text = state.src.slice(start, end)
  const href = state.md.normalizeLink(prefix + text)
  if (!state.md.validateLink(href)) return false
  countLink(state.env)
  const opening = state.push('link_open', 'a', 1)
  opening.attrs = [['href', href]]
  state.push('text', '', 0).content = text
  state.push('link_close', 'a', -1)
  state.pos = end
  return true
}

/** True where a text has as many bare links as it may. */
function isFull({ links }: Env): boolean {
  return links === linkLimit
}

function countLink(env: Env): void {
  env.links = ((env.links as number | undefined) ?? 0) + 1
}

/** The most characters of a domain. Without a limit, each of many `www.` in one word would be followed to its end. */
const domainLimit = 255
const domainForm = new RegExp(String.raw`[^\s\p{P}\p{Cc}$+<=>^|~${'`'}](?:[^\s\p{P}\p{Cc}$+<=>^|~${'`'}]|[-._])*`, 'uy')
const closing = /[?!.,:;*_~'")\]]*(?=[\s<]|$)/y

/** The end of the domain that begins at `start`; -1 where it is none. Its last two parts have no underscore. */
function findDomainEnd({ src, posMax }: StateInline, start: number): number {
  const text = src.slice(start, Math.min(start + domainLimit + 1, posMax))
  domainForm.lastIndex = 0
  const [domain] = domainForm.exec(text) ?? []
  if (domain === undefined || domain.length > domainLimit) return -1
  const end = start + domain.length
  if (isDomain(domain)) return end
  // `_http://a.b_`: the underscore belongs to the text around.
  const trimmed = domain.replace(/[._]+$/, '')
  closing.lastIndex = end
  return isDomain(trimmed) && closing.test(src) ? start + trimmed.length : -1
}

function isDomain(text: string): boolean {
  return !text.split('.').slice(-2).join('').includes('_')
}

const rest = /[^\s<]*/y

/** The end of the link whose domain ends at `host`: without the punctuation behind it. */
function findEnd({ src, posMax }: StateInline, domain: number, host: number): number {
  rest.lastIndex = host
  rest.test(src)
  let end = Math.min(rest.lastIndex, posMax)
  const open = { '(': 0, '[': 0 }
  for (let at = domain; at < end; at++) {
    switch (src[at]) {
      case '(':
        open['(']++
        break
      case ')':
        open['(']--
        break
      case '[':
        open['[']++
        break
      case ']':
        // `[http://a.b](c)`, where the bracket begins before the URL.
        if (--open['['] < 0 && /[([]/.test(src[at + 1] ?? '')) end = at
    }
  }
  for (; ; end--) {
    const last = src[end - 1]!
    if (last === ')' && open['('] < 0) open['(']++
    else if (last === ']' && open['['] < 0) open['[']++
    else if (last === ';') end = skipEntity(src, end)
    else if (!'?!.,:*_~\'"'.includes(last)) return end
  }
}

/** Behind the first character of an entity reference, `&amp;`, that ends at `end`; `end` where there is none. */
function skipEntity(src: string, end: number): number {
  let at = end - 2
  while (/[a-z\d]/i.test(src[at] ?? '')) at--
  return src[at] === '&' && at < end - 2 ? at + 1 : end
}

/** Links e-mail addresses in text that has no other meaning: their underscores may have been taken for emphasis. */
function linkAddresses(state: StateCore): void {
  for (const block of state.tokens) {
    if (block.type !== 'inline' || !block.content.includes('@') || block.children === null) continue
    let links = 0
    block.children = block.children.flatMap(token => {
      if (token.type === 'link_open') links++
      if (token.type === 'link_close') links--
      return links === 0 && token.type === 'text' ? splitAddresses(token, state) : token
    })
  }
}

const mailDomain = /[a-z\d](?:[a-z\d_-]|\.(?=[a-z\d]))*/iy

function splitAddresses(token: Token, state: StateCore): Token | Token[] {
  const text = token.content
  const pieces: Token[] = []
  let done = 0
  for (let at = text.indexOf('@'); at !== -1 && !isFull(state.env); at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > done && /[a-z\d.+_-]/i.test(text[start - 1]!)) start--
    mailDomain.lastIndex = at + 1
    if (start === at || !mailDomain.test(text)) continue
    const end = mailDomain.lastIndex
    const before = text.slice(Math.max(done, start - 7), start)
    if (!isAddress(text.slice(at + 1, end)) || /[/\p{L}\p{N}]$|xmpp:$/iu.test(before)) continue
    if (/^[@\p{L}\p{N}]/u.test(text.slice(end, end + 2))) continue
    countLink(state.env)
    const isMailto = /^mailto:$/i.test(before)
    pieces.push(
      ...toLink(text.slice(done, isMailto ? start - 7 : start), text.slice(start, end), isMailto && before, state),
    )
    done = end
  }
  if (pieces.length === 0) return token
  pieces.push(toText(text.slice(done), state))
  return pieces
}

/** `b.cd`: digits at the end are a version, `package@1.2.3`. */
function isAddress(domain: string): boolean {
  return domain.includes('.') && /[a-z]$/i.test(domain)
}

function toLink(before: string, address: string, scheme: string | false, state: StateCore): Token[] {
  const opening = new state.Token('link_open', 'a', 1)
  opening.attrs = [['href', state.md.normalizeLink(`mailto:${address}`)]]
  return [
    toText(before, state),
    opening,
    toText(scheme === false ? address : scheme + address, state),
    new state.Token('link_close', 'a', -1),
  ]
}

function toText(content: string, state: StateCore): Token {
  const token = new state.Token('text', '', 0)
  token.content = content
  return token
}
