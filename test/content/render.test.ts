import { expect, test } from 'vitest'
import {
  listMentionedUids,
  listMentions,
  parseText,
  settleMentions,
  type Rendering,
} from '../../src/resources/content/text/render.ts'

const everybody = () => true
const nobody = () => false

function render(text: string, isEffective: (user: number) => boolean = everybody): Rendering {
  return settleMentions(parseText(text), isEffective)
}

const link = (url: string, label = url) =>
  `<a href="${url}" target="_blank" rel="noopener noreferrer nofollow">${label}</a>`

test.each([
  ['paragraph', 'hello', '<p>hello</p>', 'hello'],
  ['line break', 'a\nb', '<p>a<br>b</p>', 'a\nb'],
  ['hard line break', '*a*  \nb\\\nc', '<p><em>a</em><br>b<br>c</p>', 'a\nb\nc'],
  ['two paragraphs', 'a\n\n\nb', '<p>a</p><p>b</p>', 'a\nb'],
  ['bold, italic, strikethrough', '**a** _b_ ~~c~~', '<p><strong>a</strong> <em>b</em> <del>c</del></p>', 'a b c'],
  ['heading', '# a\n###### b', '<h1>a</h1><h6>b</h6>', 'a\nb'],
  ['list', '- a\n- b\n  1. c', '<ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>', 'a\nb\nc'],
  ['list that starts later', '3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>', 'a\nb'],
  ['quote', '> a\n> b', '<blockquote><p>a<br>b</p></blockquote>', 'a\nb'],
  ['rule', 'a\n\n---\n\nb', '<p>a</p><hr><p>b</p>', 'a\nb'],
  ['code', '`a < b`', '<p><code>a &lt; b</code></p>', 'a < b'],
  ['fenced code', '```js\na && b\n```', '<pre><code class="language-js">a &amp;&amp; b\n</code></pre>', 'a && b'],
  ['indented code', '    a', '<pre><code>a\n</code></pre>', 'a'],
  ['link', '[a](https://b.c/?d&e "title")', `<p>${link('https://b.c/?d&amp;e', 'a')}</p>`, 'a'],
  ['bare URL', 'see https://b.c/d.', `<p>see ${link('https://b.c/d')}.</p>`, 'see https://b.c/d.'],
  ['bare host', 'see www.b.cd', `<p>see ${link('http://www.b.cd', 'www.b.cd')}</p>`, 'see www.b.cd'],
  ['e-mail', 'to a@b.cd', `<p>to ${link('mailto:a@b.cd', 'a@b.cd')}</p>`, 'to a@b.cd'],
  ['image', '![a *b*](http://c/d.png)', `<p>${link('http://c/d.png', 'a b')}</p>`, 'a b'],
  ['link that leads nowhere', 'a [b]() c', '<p>a b c</p>', 'a b c'],
  ['image that is nowhere', 'a ![b]() c', '<p>a b c</p>', 'a b c'],
  ['image without a text', '![](http://c/d.png)', `<p>${link('http://c/d.png')}</p>`, 'http://c/d.png'],
  ['image in a link', '[![a](http://b) c](http://d)', `<p>${link('http://d', 'a c')}</p>`, 'a c'],
  ['link in a link', '[a <http://b> c](http://d)', `<p>${link('http://d', 'a http://b c')}</p>`, 'a http://b c'],
  ['raw HTML', '<b onclick="x">a</b>', '<p>&lt;b onclick="x"&gt;a&lt;/b&gt;</p>', '<b onclick="x">a</b>'],
  ['entity', '*a* &lt; &amp;', '<p><em>a</em> &lt; &amp;</p>', 'a < &'],
  ['script link', '[a](javascript:alert(1))', '<p>[a](javascript:alert(1))</p>', '[a](javascript:alert(1))'],
  ['relative link', '[a](/b)', '<p>[a](/b)</p>', '[a](/b)'],
  ['other scheme', '<ftp://a.bc> ftp://a.bc', '<p>&lt;ftp://a.bc&gt; ftp://a.bc</p>', '<ftp://a.bc> ftp://a.bc'],
  ['link definition', '[a]: http://b\n\n[a]', `<p>[a]: ${link('http://b')}</p><p>[a]</p>`, '[a]: http://b\n[a]'],
  ['#tag, 1.5 and +1', '#tag\n1.5 & 3.\n+1', '<p>#tag<br>1.5 &amp; 3.<br>+1</p>', '#tag\n1.5 & 3.\n+1'],
])('a text with a %s is rendered as clients expect', (_name, text, html, plain) => {
  expect(render(text)).toEqual({ text, html, plain })
})

test('a table has a head, a body and aligned cells, and its plain text has a tab between cells', () => {
  const { html, plain } = render('a|b\n:-:|-\n1|2\n3|4')

  expect(html).toBe(
    '<table><thead><tr><th align="center">a</th><th>b</th></tr></thead>' +
      '<tbody><tr><td align="center">1</td><td>2</td></tr><tr><td align="center">3</td><td>4</td></tr></tbody></table>',
  )
  expect(plain).toBe('a\tb\n1\t2\n3\t4')
})

test.each([null, undefined, '', ' \r\n\t'])('where no text is (%j), nothing is stored', text => {
  expect(settleMentions(parseText(text), everybody)).toEqual({ text: null, html: null, plain: null })
})

test('line ends are normalised, and what no database can hold is left out', () => {
  expect(render('a\r\nb\rc\0d\ud800e').text).toBe('a\nb\ncd\ufffde')
})

test('somebody who can be mentioned becomes an element, with an @ in the plain text only', () => {
  const parsed = parseText('Hi [Ann <3](@u2), [Ben](@u3) and [Ann](@u2)!')

  const { html, plain } = settleMentions(parsed, everybody)

  expect(parsed.mentions).toEqual([2, 3])
  expect(html).toContain('<span class="wy-mention" data-eid="u2">Ann &lt;3</span>, ')
  expect(plain).toBe('Hi @Ann <3, @Ben and @Ann!')
  expect(listMentions(html)).toEqual([2, 3])
})

test('somebody who cannot be mentioned is shown by name', () => {
  const { text, html, plain } = render('Hi [Ann](@u2) and **[Ben](@u3)**', user => user === 3)

  expect(text).toBe('Hi [Ann](@u2) and **[Ben](@u3)**')
  expect(html).toBe('<p>Hi Ann and <strong><span class="wy-mention" data-eid="u3">Ben</span></strong></p>')
  expect(plain).toBe('Hi Ann and @Ben')
  expect(listMentions(html)).toEqual([3])
})

test.each([
  '`[Ann](@u2)`',
  '```\n[Ann](@u2)\n```',
  '    [Ann](@u2)',
  '\\[Ann](@u2)',
  '[Ann] (@u2)',
  '[](@u2)',
  '[Ann](@2)',
])('nobody is mentioned by %j', text => {
  expect(parseText(text).mentions).toEqual([])
  expect(render(text).html).not.toContain('wy-mention')
})

test('a name in a mention has at most 256 characters, and none of it is Markdown', () => {
  expect(parseText(`[${'a'.repeat(256)}](@u2)`).mentions).toEqual([2])
  expect(parseText(`[${'a'.repeat(257)}](@u2)`).mentions).toEqual([])
  expect(render('[*a* `b`](@u2)').plain).toBe('@*a* `b`')
})

test('a text cannot imitate a mention', () => {
  const { html, plain } = render(
    '<span class="wy-mention" data-eid="u2">Ann</span> http://a/%002%00 \u00002\0 &#0;2&#0; *x*',
    nobody,
  )

  expect(listMentions(html)).toEqual([])
  expect(plain).not.toContain('\0')
  expect(plain).toContain('http://a/%002%00 2 ')
})

test('a uid is replaced by the id of the person, except in code and where it names nobody', () => {
  const text = '[Ann](@ann) `[Ann](@ann)` [Eve](@eve) [Ben](@u2)\n\n    [Ann](@ann)'

  const uids = listMentionedUids(text)
  const parsed = parseText(text, new Map([['ann', 7]]))

  expect(uids).toEqual(['ann', 'eve'])
  expect(parsed.text).toBe('[Ann](@u7) `[Ann](@ann)` [Eve](@eve) [Ben](@u2)\n\n    [Ann](@ann)')
  expect(parsed.mentions).toEqual([7, 2])
  expect(settleMentions(parsed, everybody).plain).toBe('@Ann [Ann](@ann) Eve @Ben\n[Ann](@ann)')
})

test('a text whose only uid is in code is left alone', () => {
  expect(listMentionedUids('`[Ann](@ann)`')).toEqual([])
  expect(parseText('`[Ann](@ann)`', new Map([['ann', 7]])).text).toBe('`[Ann](@ann)`')
})

test('the first 500 mentions of a text count, and the others are shown as they were written', () => {
  const mentions = Array.from({ length: 502 }, (_, i) => `[Ann](@u${i})`)
  const { mentions: users, html } = parseText(mentions.join(' '))
  const uids = listMentionedUids(mentions.map(mention => mention.replace('@u', '@ann-')).join(' '))

  expect(users).toEqual(Array.from({ length: 500 }, (_, i) => i))
  expect(html).toMatch(/data-eid="u499">Ann<\/span> \[Ann\]\(@u500\) \[Ann\]\(@u501\)<\/p>$/)
  expect(uids).toHaveLength(500)
})
