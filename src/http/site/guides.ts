import { globSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Chapter, Link } from './document.ts'
import { Markdown, toId, type Rendered } from './markdown.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Pages that stand where others look for them, beside the folder of all others. */
const besides = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']

/** Types of the files that pages show or link to. */
const types: Record<string, string> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.json': 'application/json',
  '.yml': 'text/plain; charset=utf-8',
}

/** What stands under one heading, as text. */
export interface Section extends Link {
  /** The title of its page. */
  page: string
  text: string
}

/**
 * The guides: the Markdown of `docs/`, each page rendered when it is first asked for, and kept. `docs/README.md` is the
 * table of contents.
 */
export class Guides {
  readonly #markdown = new Markdown({ html: true })
  /** Name of the page → its path on the disk. */
  readonly #pages: ReadonlyMap<string, string>
  readonly #files: ReadonlySet<string>
  readonly #rendered = new Map<string, Rendered>()
  #chapters: Chapter[] | undefined
  #sections: Section[] | undefined

  constructor() {
    const pages = [...globSync('docs/*.md', { cwd: root }), ...besides]
    this.#pages = new Map(pages.map(path => [basename(path, '.md').toLowerCase(), join(root, path)]))
    this.#files = new Set(globSync('*/*.*', { cwd: join(root, 'docs') }).filter(path => extname(path) in types))
  }

  /** The parts of the table of contents, in the order of use. */
  get chapters(): readonly Chapter[] {
    this.#chapters ??= this.#readContents()
    return this.#chapters
  }

  /** Null where there is no such page. */
  page(name: string): Rendered | null {
    const path = this.#pages.get(name)
    if (path === undefined) return null
    const known = this.#rendered.get(name) ?? this.#markdown.render(readFileSync(path, 'utf8'), this.#toAddress)
    this.#rendered.set(name, known)
    return known
  }

  /** A file in a folder of docs/; null where there is none. */
  file(folder: string, name: string): { type: string; bytes: Buffer } | null {
    const path = `${folder}/${name}`
    if (!this.#files.has(path)) return null
    return { type: types[extname(name)]!, bytes: readFileSync(join(root, 'docs', path)) }
  }

  /** All pages, heading by heading. */
  get sections(): readonly Section[] {
    this.#sections ??= this.chapters
      .flatMap(({ links }) => links)
      .flatMap(({ title, path }) => {
        const source = this.#pages.get(path.slice('/docs/'.length))
        return source === undefined ? [] : toSections(title, path, readFileSync(source, 'utf8'))
      })
    return this.#sections
  }

  /** Links work on GitHub, by the names of files, and here. */
  readonly #toAddress = (target: string): string | null => {
    if (/^(?:[a-z]+:|#|\/)/.test(target)) return target
    const [path = '', anchor] = target.split('#')
    const hash = anchor === undefined ? '' : `#${anchor}`
    if (path === '../README.md') return '/'
    const name = basename(path, '.md').toLowerCase()
    if (path.endsWith('.md') && this.#pages.has(name)) return `${name === 'readme' ? '/docs' : `/docs/${name}`}${hash}`
    return this.#files.has(path) ? `/docs/${path}` : null
  }

  #readContents(): Chapter[] {
    const text = readFileSync(this.#pages.get('readme')!, 'utf8')
    const parts = text.split(/^## /m).slice(1)
    return parts.map(part => ({
      title: part.slice(0, part.indexOf('\n')),
      links: [...part.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].flatMap(([, title, target]) => {
        const path = this.#toAddress(target!)
        return path === null ? [] : [{ title: title!, path }]
      }),
    }))
  }
}

function toSections(page: string, path: string, markdown: string): Section[] {
  let isCode = false
  const sections: Section[] = []
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const heading = isCode ? null : /^(#+) (.+)/.exec(line)
    if (heading === null) {
      const section = sections.at(-1)
      if (section !== undefined) section.text += `${toText(line)}\n`
      continue
    }
    const title = toText(heading[2]!)
    sections.push({ page, title, path: heading[1] === '#' ? path : `${path}#${toId(title)}`, text: '' })
  }
  return sections
}

/** The words of a line, without what marks them up. */
function toText(line: string): string {
  return line
    .replace(/<!--.*?-->|^[-:| ]+$|^```\w*$/g, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:[-*>|]|#+|\d+\.) ?|\*\*|`/g, '')
    .replace(/ *\| */g, ' · ')
    .trim()
}
