import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toHtml } from '../../src/resources/content/text/html.ts'
import { createParser } from '../../src/resources/content/text/markdown.ts'
import { toMarkedText } from '../../src/resources/content/text/plain-text.ts'
import { parseText } from '../../src/resources/content/text/render.ts'

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

test.each([
  ['mixed', mixed],
  ['calm', calm],
  ['paired', paired],
])('a %s text without Markdown is rendered the same by the short way and by the parser', (_name, texts) => {
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
