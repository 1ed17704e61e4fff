import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toHtml } from '../../src/resources/content/text/html.ts'
import { createParser } from '../../src/resources/content/text/markdown.ts'
import { toMarkedText } from '../../src/resources/content/text/plain-text.ts'
import { parseText } from '../../src/resources/content/text/render.ts'
import { parseSimple } from '../../src/resources/content/text/simple-text.ts'

const parse = createParser()

/** Everything that Markdown or the search for links could take for something, among words. */
const piece = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...'a Bob okay größe 私 👍🏽 é x1 42 ß .com a.de'.split(' ')) },
  { weight: 4, arbitrary: fc.constantFrom(...' \n\t\f\v\u00a0\u2028\u0085', '  ', '\n\n') },
  { weight: 6, arbitrary: fc.constantFrom(...'.,:;!?"\'()[]{}<>&#+-=*_~`^|\\/$%@0123456789') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...'www. WWW. http:// https: // mailto: ftp:// &amp; &lt &#65; --- === ...'.split(' ')),
  },
  { weight: 2, arbitrary: fc.constantFrom('1. ', '2) ', '- ', '+ ', '# ', ' - ') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
)
/** Nearly every mixed text holds something that is formatted; these rarely do. */
const calmPiece = fc.constantFrom(...'.!?1-+#=:~()&"/w%{$;\u00a0 \n', 'a', 'b c', ', ', '12.', '3)', ' - ')

const mixed = fc.array(piece, { maxLength: 14 })
const calm = fc.array(calmPiece, { maxLength: 12 })
/** What comes in pairs, which chance rarely brings together. */
const formatted = fc.constantFrom(
  ...'_a_ `a` ~~a~~ **a** <mailto:a> a@b.cd [a](mailto:b) [A](@u1) \\!'.split(' '),
  'a|b\n-|-',
)
const paired = fc.tuple(calm, formatted, calm).map(pieces => pieces.flat())

/** Links and emphasis, most of them such as go the short way, and what may stand beside them. */
const label = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', '2', 'b-c', 'x--y') },
  { weight: 1, arbitrary: fc.constantFrom('-', 'É', 'A', 'a'.repeat(63), 'a'.repeat(64)) },
)
const labels = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 4 }).map(all => all.join('.')),
  fc.nat(7).map(more => 'a.'.repeat(more + 4) + 'b'),
)
const path = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('a', 'B', '1') },
    { weight: 2, arbitrary: fc.constantFrom(...'/?#=&.+_~-') },
    { weight: 1, arbitrary: fc.constantFrom(...'%,!;)*:') },
  ),
  { maxLength: 4 },
)
const link = fc.tuple(fc.constantFrom('http://', 'https://'), labels, fc.constantFrom('', '/'), path)
const emphasis = fc
  .tuple(fc.constantFrom('*', '**'), fc.array(fc.constantFrom(...'ab Ü1.-,私(&"'), { minLength: 1, maxLength: 4 }))
  .map(([stars, words]) => [stars, ...words, stars])
const beside = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', ' ', '\n', '. ', ', ') },
  { weight: 1, arbitrary: fc.constantFrom(...'.,!?():;&-_*"', '\u00a0', 'a') },
)
const lightly = fc
  .tuple(beside, fc.oneof(link, emphasis), beside, fc.oneof(link, emphasis, beside))
  .map(pieces => pieces.flat(3))

test.each([
  ['mixed', mixed],
  ['calm', calm],
  ['paired', paired],
  ['lightly formatted', lightly],
])('a %s text is rendered the same by the short way and by the parser', (_name, texts) => {
  fc.assert(
    fc.property(texts, pieces => {
      const { text, html, markedText } = parseText(pieces.join(''))
      if (text === null) return

      const tokens = parse(text)

      expect({ html, plain: markedText }).toEqual({ html: toHtml(tokens), plain: toMarkedText(tokens) })
    }),
    { numRuns: 5_000 },
  )
})

test.each([
  'yes',
  'see https://a-b.example.com/c_d?e=f&g=h#i.',
  '**a**, *b c*!',
  'a\n*b*\n\nhttps://c.de',
  '**a** '.repeat(300).trim(),
])('%j takes the short way', text => {
  const tokens = parse(text)

  expect(parseSimple(text)).toEqual({ text, mentions: [], html: toHtml(tokens), markedText: toMarkedText(tokens) })
})
