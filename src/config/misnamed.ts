import { editDistance } from '../lib/text/resemblance.ts'

/**
 * What environments have for other programs although it reads like a setting of this one: nix-shell exports `version`,
 * desktops `SESSION`, build agents `AGENT`.
 */
const foreign = new Set(['AGENT', 'SESSION', 'version'])

/** Words that are taken for each other. */
const alike = new Set(['URI URL', 'URL URI'])

/**
 * The variables of an environment that are no settings and were most likely meant as one, each with the name that was
 * meant: they differ in a letter or two, in case, or in underscores. Words are compared with words, and short ones only
 * with some letters in another order, because of names such as `APP_KEY`, `SSL_CERT_FILE`, `R2_ENDPOINT` and `POST`.
 */
export function findMisnamed(environment: NodeJS.ProcessEnv, settings: readonly string[]): [string, string][] {
  const known = new Set(settings)
  return Object.keys(environment).flatMap((name): [string, string][] => {
    // A variable without a value means the same as none.
    if (known.has(name) || foreign.has(name) || !environment[name] || name.length > 64) return []
    const meant = settings.find(setting => isEqualButForm(name, setting)) ?? settings.find(one => isSlip(name, one))
    return meant === undefined ? [] : [[name, meant]]
  })
}

/** They differ in case, or in where words are parted. */
function isEqualButForm(name: string, setting: string): boolean {
  const plain = (text: string) => text.replaceAll(/[_\-.]/g, '').toUpperCase()
  // The names of one word are everybody's words, in lower case.
  return setting.includes('_') && plain(name) === plain(setting)
}

function isSlip(name: string, setting: string): boolean {
  const given = name.toUpperCase().split('_')
  const meant = setting.split('_')
  if (given.length !== meant.length) return false
  let edits = 0
  for (const [i, word] of given.entries()) edits += editsBetween(word, meant[i]!, meant.length > 1)
  return edits <= (setting.length < 10 ? 1 : 2)
}

/** The number of slips that make one word of the other; Infinity where they are different words. */
function editsBetween(given: string, meant: string, isPart: boolean): number {
  if (given === meant) return 0
  if (isPart && (alike.has(`${given} ${meant}`) || singular(given) === singular(meant))) return 1
  const edits = editDistance(given, meant, meant.length < 7 ? 1 : 2)
  const isShort = Math.min(given.length, meant.length) < 4
  // Of four letters, one more or less is another word where it stands alone: HOST, HOSTS.
  if (!isPart && meant.length === 4) return given.length === 4 && sorted(given) === sorted(meant) ? edits : Infinity
  if (!isShort || given.length !== meant.length) return edits
  return sorted(given) === sorted(meant) ? edits : Infinity
}

function singular(word: string): string {
  return word.replace(/IES$/, 'Y').replace(/S$/, '')
}

function sorted(text: string): string {
  return Array.from(text).toSorted().join('')
}
