import { readFileSync } from 'node:fs'
import { readExamples } from '../about/examples.ts'
import type { Link } from './document.ts'
import type { Section } from './guides.ts'
import { escapeHtml, Markdown } from './markdown.ts'
import { showOperation, type Operation } from './operation.ts'
import { showSchemas, type Description } from './schema-table.ts'

export interface ReferencePage {
  title: string
  html: string
  outline: Link[]
  /** Of a page with operations: copies examples and sends them. */
  script?: string
  /** The pages of the reference. */
  links: Link[]
}

const script = readFileSync(new URL('try.js', import.meta.url), 'utf8')

/** The name of the page with all shapes. */
const shapes = 'shapes'

/**
 * The reference as pages, made from the description of the API when they are first asked for: an introduction, a page for
 * each tag, and all shapes.
 */
export class Reference {
  readonly #description: Description
  readonly #markdown = new Markdown({ html: false })
  readonly #operations: Operation[]
  readonly #links: Link[]
  readonly #made = new Map<string | null, ReferencePage>()

  constructor(description: Description) {
    const examples = readExamples()
    this.#description = description
    this.#operations = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        path,
        method: method.toUpperCase(),
        example: examples[`${method.toUpperCase()} ${path}`],
      })),
    )
    this.#links = [
      { title: 'Introduction', path: '/api/docs' },
      ...description.tags.map(({ name }) => ({ title: titleOf(name), path: `/api/docs/${name}` })),
      { title: 'Shapes', path: `/api/docs/${shapes}` },
    ]
  }

  /** Null: the introduction. Null is the answer where there is no such page. */
  page(name: string | null): ReferencePage | null {
    const known = this.#made.get(name)
    if (known !== undefined) return known
    const page = name === null ? this.#introduction() : name === shapes ? this.#shapes() : this.#tag(name)
    if (page === null) return null
    const made = { ...page, links: this.#links }
    this.#made.set(name, made)
    return made
  }

  /** For the search. */
  get sections(): Section[] {
    return this.#operations.map(({ summary, description = '', method, path, tags, operationId }) => ({
      page: 'Reference',
      title: summary,
      path: `/api/docs/${tags[0]}#${operationId}`,
      text: `${method} ${path}\n${description}`,
    }))
  }

  #introduction() {
    const { html, headings } = this.#markdown.render(this.#description.info.description)
    const tags = this.#description.tags.map(({ name, description }) => {
      const own = this.#operations.filter(({ tags: [tag] }) => tag === name)
      return `<li><a href="/api/docs/${name}">${titleOf(name)}</a> <span class="type">${own.length}</span><p>${this.#inline(description)}</p></li>`
    })
    return {
      title: 'Reference',
      html: `${html}\n<h2 id="operations">Operations</h2>\n<ul class="found">${tags.join('\n')}</ul>`,
      outline: [...headings.filter(({ level }) => level === 2), { text: 'Operations', id: 'operations' }].map(toLink),
    }
  }

  #tag(name: string) {
    const tag = this.#description.tags.find(known => known.name === name)
    if (tag === undefined) return null
    const own = this.#operations.filter(({ tags }) => tags[0] === name)
    const shown = own.map(operation => showOperation(operation, this.#description, text => this.#block(text)))
    return {
      title: titleOf(name),
      html: `<h1>${titleOf(name)}</h1>\n${this.#block(tag.description)}\n${shown.join('\n')}`,
      outline: own.map(({ summary, operationId }) => ({ title: summary, path: `#${operationId}` })),
      script,
    }
  }

  #shapes() {
    const { schemas } = this.#description.components
    const html = showSchemas(this.#description, text => this.#block(text))
    return {
      title: 'Shapes',
      html: `<h1>Shapes</h1>\n<p>The objects that answers and requests are made of.</p>\n${html}`,
      outline: Object.keys(schemas).map(name => ({ title: name, path: `#${name}` })),
    }
  }

  #block(text: string): string {
    return this.#markdown.render(text).html
  }

  #inline(text: string): string {
    return this.#block(text).replaceAll(/<\/?p>/g, '')
  }
}

function toLink({ text, id }: { text: string; id: string }): Link {
  return { title: text, path: `#${id}` }
}

/** `agent-usage` → `Agent usage`. */
function titleOf(name: string): string {
  return escapeHtml(name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' '))
}
