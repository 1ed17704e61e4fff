/** What is looked for. */
export interface Question {
  /** All words, those of phrases as well, separated by spaces. */
  words: string
  phrases: string[]
}

const quotes = /["“”„«»]([^"“”„«»]*)["“”„«»]/g

/** What stands between words, and means nothing in a phrase. */
const punctuation = /[\p{P}<>=+|~^$`]+/gu

/** Reads `q`: words, and phrases in quotation marks. A mark that is alone counts for nothing. */
export function readQuestion(q: string): Question {
  const phrases: string[] = []
  const others = q.replace(quotes, (_, quoted: string) => {
    const phrase = quoted.replace(punctuation, ' ').trim().replace(/\s+/g, ' ')
    if (phrase !== '') phrases.push(phrase)
    return ' '
  })
  const words = others.replace(/["“”„«»]/g, ' ').split(/\s+/)
  return { words: [...words, ...phrases].filter(Boolean).join(' '), phrases }
}
