import * as fc from 'fast-check'
import { parseFragment, type DefaultTreeAdapterTypes } from 'parse5'
import { expect, test } from 'vitest'
import { parseText, settleMentions } from '../../src/resources/content/text/render.ts'

/** The largest text that the API takes. */
const length = 65_536

/** What every element may carry; an element that is not named here must not occur. */
const bare = 'p br strong em del h1 h2 h3 h4 h5 h6 ul li blockquote hr table thead tbody tr pre'.split(' ')
const allowed: Record<string, string[]> = {
  ...Object.fromEntries(bare.map(tag => [tag, []])),
  ol: ['start'],
  th: ['align'],
  td: ['align'],
  code: ['class'],
  a: ['href', 'target', 'rel'],
  span: ['class', 'data-eid'],
}

function requireSafe(node: DefaultTreeAdapterTypes.ParentNode, isInLink = false): void {
  for (const child of node.childNodes) {
    if (child.nodeName === '#text') continue
    if (!('tagName' in child)) throw new Error(`There is a ${child.nodeName}`)
    const attributes = Object.fromEntries(child.attrs.map(({ name, value }) => [name, value]))
    const isLink = child.tagName === 'a'
    const unexpected = Object.keys(attributes).filter(name => !allowed[child.tagName]?.includes(name))
    if (!(child.tagName in allowed) || unexpected.length > 0)
      throw new Error(`There is <${child.tagName} ${unexpected}>`)
    if (isLink && !/^(?:https?:\/\/|mailto:)/i.test(attributes.href ?? ''))
      throw new Error(`A link leads to ${attributes.href}`)
    if (isLink && attributes.rel !== 'noopener noreferrer nofollow') throw new Error('A link gives away its origin')
    if (isLink && isInLink) throw new Error('A link holds a link')
    requireSafe(child, isInLink || isLink)
  }
}

const fragments = [
  '<script> </script> </p> <!-- --> <svg/onload=1> "><b"x=" javascript: data:text/html, &lt;script&gt; &#106;avascript:',
  '[ ] ( ) ]( ![ < > " \' ` ``` * ** _ ~~ | \\ & ; @ [a](@u1) [a](@b) (@u2) http://a.b/ https:// www. mailto: a@b.cd',
]
  .flatMap(line => line.split(' '))
  .concat('\n', '\n\n', '\n> ', '\n- ', '\n1. ', '\n|-|\n', '    ', '\t', ' ', 'word', '\0', '\ud800')
  .concat(
    '<img src=x onerror=alert(1)>',
    "' onmouseover='1",
    '<http://a?"onclick=1>',
    '[x](http://a "b")',
    '~~~ x" y="\n',
  )

test('whatever is written, the HTML holds nothing but what it may, and no mark is left in the plain text', () => {
  const texts = fc.array(fc.oneof(fc.constantFrom(...fragments), fc.string({ unit: 'binary', maxLength: 3 })), {
    maxLength: 25,
  })
  fc.assert(
    fc.property(texts, fc.boolean(), (pieces, isEffective) => {
      const { html, plain } = settleMentions(parseText(pieces.join('')), () => isEffective)

      requireSafe(parseFragment(html ?? ''))
      expect(html ?? '').not.toContain('\0')
      expect(plain ?? '').not.toContain('\0')
    }),
    { numRuns: 5_000 },
  )
})

const units = [
  '[ ] ![ []( [a](b [a](< [[] [![ * ** *a ***a *_ ~~ ` ``a` `[ < <a: & &# &amp; > | [a](@u1) [a](@u [a](@b) \\[',
  "http:// https://a.b/( http://a.b/' www. www.a a@ mailto:a@ [a](http://b) ![a](http://b) [<http://a>](http://b) <a@b.c>",
]
  .flatMap(line => line.split(' '))
  .concat(
    '*a ',
    '*a **b ',
    '> ',
    '> a\n',
    '- ',
    '- a\n',
    '- - a\n',
    '1. a\n',
    'x\n- ',
    '> - ',
    '|-|\n',
    '|\n',
    'a|b\n-|-\n',
  )
  .concat(
    '| a\n|-\n',
    '# a\n',
    'a\n=\n',
    '=\n',
    '---\n',
    'a\n',
    '    a\n',
    '```\n',
    'a\\\n',
    '[a]: b\n',
    '[a]: http://x\n[a] ',
  )
  .concat('http://a ', 'www.a.b ', 'a@b.c ', '<http://a> ', '[a](http://b "')
  .concat('_www.', '_www.a_', '(www.', 'http://http://', '[http://a.b](', 'www.a&x; ', 'a_b@c.d ', 'mailto:')
  .concat('[](@', '[a](@', '[a](<@', '[a](@b "', '[a](@b (', '[[a](@b)', '[a [b](@c)](', '![a](@b) ', '[`](@b)', '(<@')

const shapes: [string, string][] = [
  ...units.map(unit => [unit, unit.repeat(length / unit.length)] as [string, string]),
  ['brackets that close', '['.repeat(length / 2) + ']'.repeat(length / 2)],
  ['brackets that never close before a mention', `${'['.repeat(length - 6)}](@u1)`],
  ['brackets in a mention', `${'['.repeat(length / 2 - 4)}${']'.repeat(length / 2 - 4)}(@u1)`],
  ['a long URL', `http://a.b/${'a'.repeat(length - 20)}`],
  ['a long host', `http://${'a.'.repeat(length / 2 - 10)}`],
  ['parentheses behind a URL', `http://a.b/${')'.repeat(length - 20)}`],
  ['entities behind a URL', `http://a.b/${'&a;'.repeat(length / 3 - 10)}`],
  ['a long e-mail address', `${'a'.repeat(length - 10)}@b.cd`],
  ['links in links', '[a'.repeat(5_000) + '](http://x)'.repeat(5_000)],
  ['bold in bold', `${'**'.repeat(length / 4)}a${'**'.repeat(length / 4 - 1)}`],
  ['runs of backticks', Array.from({ length: 360 }, (_, at) => `${'`'.repeat(at)}a`).join('')],
  ['wide table', `${'a|'.repeat(8_000)}\n${'-|'.repeat(8_000)}\n${'|\n'.repeat(16_000)}`],
  ['lines that continue a deep quote', `${'> '.repeat(50)}a\n${'b\n'.repeat(32_000)}`],
  ['quote of many deep lines', `${'> '.repeat(19)}a\n`.repeat(1_600)],
  ['list that goes deeper', Array.from({ length: 360 }, (_, at) => `${' '.repeat(at)}- a\n`).join('')],
  ['1,000 links', `www.a.bc/${'('.repeat(55)} `.repeat(1_000)],
]

test.each(shapes)('64 KB of %j are rendered in bounded time, and safely', (_name, text) => {
  const start = process.cpuUsage()
  const { html } = settleMentions(parseText(text), () => true)
  const { user, system } = process.cpuUsage(start)

  // The worst take 50 ms where this was written, when the parser is warm; processor time, so that neighbours are left out.
  expect((user + system) / 1_000).toBeLessThan(500)
  requireSafe(parseFragment(html ?? ''))
})

test('what is too much for the parser is still there to be read', () => {
  for (const unit of ['word\n> ', '- word\n', '*word* ', '|word\n|-\n']) {
    const words = Math.floor(length / unit.length)

    const { plain } = settleMentions(parseText(unit.repeat(words)), () => true)

    expect(plain?.match(/word/g)).toHaveLength(words)
  }
})
