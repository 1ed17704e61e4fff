import { escapeLabel } from '../../../resources/content/text/mention-syntax.ts'
import { toUid } from './conversation.ts'
import { emojiOf } from './emoji.ts'

/** Code, which stays as it is, and what Slack writes in angle brackets. */
const special = /```[^]*?```|`[^`\n]+`|<([^<>\n]+)>/g

/** The text of a Slack message as Markdown. `nameOf`: of a user. */
export function toMarkdown(text: string, nameOf: (user: string) => string): string {
  let markdown = ''
  let done = 0
  for (const match of text.matchAll(special)) {
    markdown += toStyled(text.slice(done, match.index))
    markdown += match[1] === undefined ? toCode(match[0]) : toLink(match[1], nameOf)
    done = match.index + match[0].length
  }
  return markdown + toStyled(text.slice(done))
}

function toStyled(text: string): string {
  const styled = text
    .replace(/(?<![\w*])\*(?=\S)([^*\n]*\S)\*(?![\w*])/g, '**$1**')
    .replace(/(?<![\w~])~(?=\S)([^~\n]*\S)~(?![\w~])/g, '~~$1~~')
    .replace(/^•/gm, '-')
    .replace(/:([a-z0-9_+'-]+(?:::skin-tone-\d)?):/g, (whole, name: string) => emojiOf(name) ?? whole)
  return unescape(styled)
}

/** The fences of blocks stand alone in their lines. */
function toCode(code: string): string {
  if (!code.startsWith('```')) return unescape(code)
  return `\n\`\`\`\n${unescape(code.slice(3, -3)).replace(/^\n|\n$/g, '')}\n\`\`\`\n`
}

function toLink(target: string, nameOf: (user: string) => string): string {
  const bar = target.indexOf('|')
  const [to, label] = bar === -1 ? [target, null] : [target.slice(0, bar), unescape(target.slice(bar + 1))]
  if (to.startsWith('@')) return `[${escapeLabel(nameOf(to.slice(1)))}](@${toUid(to.slice(1))})`
  if (to.startsWith('#')) return `#${label ?? to.slice(1)}`
  if (to.startsWith('!')) return label ?? `@${to.slice(1).split('^', 1)[0]}`
  const url = unescape(to)
  return label === null || label === url
    ? url
    : `[${escapeLabel(label)}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`
}

function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
