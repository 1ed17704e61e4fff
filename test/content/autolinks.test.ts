import { expect, test } from 'vitest'
import { htmlOf, parseText, settleMentions, toKept } from '../../src/resources/content/text/render.ts'

/** The HTML with links as `«target|text»`, and without other elements. */
function render(text: string): { links: string; plain: string | null } {
  const rendering = toKept(settleMentions(parseText(text), () => true))
  const links = (htmlOf(rendering) ?? '')
    .replace(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/g, '«$1|$2»')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
  return { links, plain: parseText(text).markedText }
}

/**
 * Texts and what is shown of them, with links in quotation marks: `a «http://b.c»`, or `«www.a.b|http://www.a.b»` where
 * the target is not the text. Compared once with cmark-gfm, which GitHub uses, and micromark, which imitates it.
 */
const cases: [string, string][] = [
  // www.
  ['www.a.bc', '«www.a.bc|http://www.a.bc»'],
  ['see www.a.bc/d?e=f now', 'see «www.a.bc/d?e=f|http://www.a.bc/d?e=f» now'],
  ['WWW.a.bc', '«WWW.a.bc|http://WWW.a.bc»'],
  ['www.a', '«www.a|http://www.a»'],
  ['www.', 'www.'],
  ['xwww.a.bc', 'xwww.a.bc'],
  ['"www.a.bc"', '"www.a.bc"'],
  ['(www.a.bc)', '(«www.a.bc|http://www.a.bc»)'],
  ['a www.b.cd www.e.fg', 'a «www.b.cd|http://www.b.cd» «www.e.fg|http://www.e.fg»'],
  ['a.bc', 'a.bc'],
  // http:// and https://
  ['http://a.bc', '«http://a.bc»'],
  ['https://a.bc/', '«https://a.bc/»'],
  ['HTTPS://a.bc', '«HTTPS://a.bc»'],
  ['http://localhost:3000/x', '«http://localhost:3000/x»'],
  ['http://a.bc:8080', '«http://a.bc:8080»'],
  ['http://10.0.0.1/x', '«http://10.0.0.1/x»'],
  ['http://[::1]/x', 'http://[::1]/x'],
  ['http://', 'http://'],
  ['http://-a.bc', 'http://-a.bc'],
  ['http:/a.bc', 'http:/a.bc'],
  ['ftp://a.bc', 'ftp://a.bc'],
  ['javascript:alert(1)', 'javascript:alert(1)'],
  ['a:b', 'a:b'],
  ['xhttp://a.bc', 'xhttp://a.bc'],
  ['1http://a.bc', '1«http://a.bc»'],
  ['"http://a.bc"', '"«http://a.bc»"'],
  ['看http://a.bc', '看«http://a.bc»'],
  ['http://a@b.cd/e', '«http://a@b.cd/e»'],
  // Domains
  ['http://münchen.de', '«http://münchen.de|http://xn--mnchen-3ya.de»'],
  ['http://a_b.c.de', '«http://a_b.c.de»'],
  ['http://a.b_c.de', 'http://a.b_c.de'],
  ['http://a.b_c', 'http://a.b_c'],
  ['www.a_b.c', 'www.a_b.c'],
  ['www.a_b.c.de', '«www.a_b.c.de|http://www.a_b.c.de»'],
  ['http://a-b.cd', '«http://a-b.cd»'],
  [`http://${'a'.repeat(256)}`, `http://${'a'.repeat(256)}`],
  // Punctuation at the end
  ['http://a.bc.', '«http://a.bc».'],
  ['http://a.bc/d?!', '«http://a.bc/d»?!'],
  ['http://a.bc/d, e', '«http://a.bc/d», e'],
  ['http://a.bc:', '«http://a.bc»:'],
  ['http://a.bc/d:', '«http://a.bc/d»:'],
  ['http://a:', '«http://a»:'],
  ['http://a.bc/d;', '«http://a.bc/d»;'],
  ['http://a.bc/*', '«http://a.bc/»*'],
  ['http://a.bc/d_', '«http://a.bc/d»_'],
  ['http://a.bc/d~', '«http://a.bc/d»~'],
  [`http://a.bc/d'`, `«http://a.bc/d»'`],
  ['http://a.bc/d"', '«http://a.bc/d»"'],
  ['http://a.bc/d-', '«http://a.bc/d-»'],
  ['http://a.bc/.d', '«http://a.bc/.d»'],
  ['http://a.bc/d...', '«http://a.bc/d»...'],
  // Parentheses and brackets
  ['http://a.bc/d(e)', '«http://a.bc/d(e)»'],
  ['(http://a.bc/d(e))', '(«http://a.bc/d(e)»)'],
  ['http://a.bc/d)))', '«http://a.bc/d»)))'],
  ['http://a.bc/a(b', '«http://a.bc/a(b»'],
  ['http://a.bc/(d).', '«http://a.bc/(d)».'],
  ['http://a.bc/(d)e)f', '«http://a.bc/(d)e)f»'],
  ['[http://a.bc]', '[«http://a.bc»]'],
  ['http://a.bc/d[1] e', '«http://a.bc/d[1]|http://a.bc/d%5B1%5D» e'],
  ['[see http://a.bc', '[see «http://a.bc»'],
  // Entities, `<` and `&`
  ['http://a.bc/?d&amp;', '«http://a.bc/?d»&'],
  ['http://a.bc/?d&e;', '«http://a.bc/?d»&e;'],
  ['http://a.bc/?d&e=f', '«http://a.bc/?d&e=f»'],
  ['http://a.bc/?d&copy;e', '«http://a.bc/?d&copy;e»'],
  ['http://a.bc/<d', '«http://a.bc/»<d'],
  ['http://a.bc/d&;', '«http://a.bc/d&»;'],
  // Emphasis
  ['_http://a.bc_', '«http://a.bc»'],
  ['_http://a.bc/d_', '«http://a.bc/d»'],
  ['*http://a.bc*', '«http://a.bc»'],
  ['**http://a.bc/d**', '«http://a.bc/d»'],
  ['~~http://a.bc~~', '«http://a.bc»'],
  ['*www.a.bc*', '«www.a.bc|http://www.a.bc»'],
  ['http://a.bc/d_e_f', '«http://a.bc/d_e_f»'],
  ['http://a.bc/*d*e', '«http://a.bc/*d*e»'],
  ['http://a.bc/**d**', '«http://a.bc/**d»**'],
  ['http://a.bc/~~d~~e', '«http://a.bc/~~d~~e»'],
  // E-mail addresses
  ['a@b.cd', '«a@b.cd|mailto:a@b.cd»'],
  ['a.b+c_d-e@f.gh', '«a.b+c_d-e@f.gh|mailto:a.b+c_d-e@f.gh»'],
  ['a@b.cd.', '«a@b.cd|mailto:a@b.cd».'],
  ['a@b.cd-', 'a@b.cd-'],
  ['a@b.cd_', 'a@b.cd_'],
  ['a@b', 'a@b'],
  ['a+b@c', 'a+b@c'],
  ['@b.cd', '@b.cd'],
  ['package@1.2.3', 'package@1.2.3'],
  ['_a@b.cd_', '«a@b.cd|mailto:a@b.cd»'],
  ['a_b_c@d.ef', '«a_b_c@d.ef|mailto:a_b_c@d.ef»'],
  ['mailto:a@b.cd', '«mailto:a@b.cd|mailto:a@b.cd»'],
  ['xmpp:a@b.cd', 'xmpp:a@b.cd'],
  ['a@b.cd@e', 'a@b.cd@e'],
  ['jörg@b.cd', 'jörg@b.cd'],
  ['"a@b.cd"', '"«a@b.cd|mailto:a@b.cd»"'],
  ['a\\@b.cd', 'a@b.cd'],
  // Places
  ['# http://a.bc', '«http://a.bc»'],
  ['- http://a.bc', '«http://a.bc»'],
  ['> http://a.bc', '«http://a.bc»'],
  ['a|b\n-|-\nhttp://a.bc|c', 'ab«http://a.bc»c'],
  ['a\nhttp://a.bc\nb', 'a«http://a.bc»b'],
  ['`http://a.bc`', 'http://a.bc'],
  ['    http://a.bc', 'http://a.bc\n'],
  ['```\nhttp://a.bc a@b.cd\n```', 'http://a.bc a@b.cd\n'],
  ['[http://a.bc](http://d.ef)', '«http://a.bc|http://d.ef»'],
  ['[see www.a.bc or b@c.de](http://d.ef)', '«see www.a.bc or b@c.de|http://d.ef»'],
  ['![http://a.bc](http://d.ef)', '«http://a.bc|http://d.ef»'],
  ['http\\://a.bc', 'http://a.bc'],
  ['<http://a.bc>', '«http://a.bc»'],
]

test.each(cases)('%j has the links that it has on GitHub', (text, expected) => {
  const whole = expected.replace(/«([^»]*)»/g, (_, link: string) => {
    const [label, target] = link.split('|')
    return `«${target ?? label}|${label}»`
  })

  const { links, plain } = render(text)

  expect(links).toBe(whole)
  // Words are searched in the plain text, where a link is what is shown of it.
  for (const [, label] of links.matchAll(/\|([^»]*)»/g)) expect(plain).toContain(label)
})

test('the first 1,000 bare links of a text are links, and the others are shown as they were written', () => {
  const { links, plain } = render('http://a.bc '.repeat(1_002).trim())

  expect(links.match(/«/g)).toHaveLength(1_000)
  expect(plain).toBe('http://a.bc '.repeat(1_002).trim())
})
